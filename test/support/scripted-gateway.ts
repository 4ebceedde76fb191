import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

export interface ConnectorCall {
  readonly connectorKey: string;
  readonly method: string;
  readonly id: number;
  readonly params: Record<string, unknown>;
  readonly body: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Answers with this text as the JSON of the result. */
  result(json: string): void;
  /** Answers with a JSON-RPC error. */
  error(code: number, status?: number, data?: unknown): void;
}

type Answerer = (call: ConnectorCall) => void;

/** A request for a snapshot. */
export interface SnapshotCall {
  readonly cookie: string | undefined;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Answers with the gateway's snapshot, or with this one. */
  answer(body?: unknown): void;
}

/**
 * A gateway whose every answer a test decides: its snapshots, and what each connector says. A connector that was not
 * scripted has one tool, `echo`, and works.
 */
export class ScriptedGateway {
  readonly #server: Server;
  readonly #answers = new Map<string, Answerer>();
  readonly calls: ConnectorCall[] = [];
  snapshots = 0;
  /** The body of the next snapshots. */
  snapshot: unknown = { revision: 1, connectors: [] };
  snapshotStatus = 200;
  /** Answers requests for snapshots in place of the two above. */
  onSnapshot: ((call: SnapshotCall) => void) | undefined;

  private constructor() {
    this.#server = createServer((request, response) => this.#serve(request, response));
  }

  /** `port`: that of one that was closed, to be there again. */
  static async start(port = 0): Promise<ScriptedGateway> {
    const gateway = new ScriptedGateway();
    gateway.#server.listen(port, "127.0.0.1");
    await once(gateway.#server, "listening");
    return gateway;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${String(typeof address === "object" && address !== null ? address.port : 0)}`;
  }

  script(connectorKey: string, answer: Answerer): void {
    this.#answers.set(connectorKey, answer);
  }

  /** Connections that are open. */
  connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
    });
  }

  /** A snapshot in which these connectors are connected; a number is the connection's version. */
  connect(revision: number, connectors: Record<string, number>): void {
    this.snapshot = snapshotOf(revision, connectors);
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      if (path === "/v1/connector-authorizations/snapshot") {
        this.snapshots += 1;
        const { cookie } = request.headers;
        const answer = (body = this.snapshot): void => send(response, JSON.stringify(body), this.snapshotStatus);
        if (this.onSnapshot === undefined) answer();
        else this.onSnapshot({ cookie, request, response, answer });
        return;
      }
      const connectorKey = /^\/v1\/connectors\/([^/]+)\/mcp$/.exec(path)?.[1];
      if (connectorKey === undefined) {
        response.writeHead(404).end();
        return;
      }
      const call = connectorCall(decodeURIComponent(connectorKey), Buffer.concat(chunks).toString(), request, response);
      this.calls.push(call);
      (this.#answers.get(call.connectorKey) ?? working)(call);
    });
  }
}

/** The body of a snapshot in which these connectors are connected; a number is the connection's version. */
export function snapshotOf(revision: number, connectors: Record<string, number>): object {
  const entries = Object.entries(connectors).map(([connectorId, version]) => connected(connectorId, version));
  return { revision, connectors: entries };
}

/** A connected entry of a snapshot, with some of its members changed. */
export function connected(connectorId: string, connectionVersion: number, changes: object = {}): object {
  return {
    connectorId,
    connectorVersion: "1.0.0",
    state: "connected",
    connectionId: `c-${connectorId}`,
    connectionVersion,
    ...changes,
  };
}

/** A connector that works: discovers, lists `echo`, and gives a call's arguments back. */
export function working(call: ConnectorCall): void {
  if (call.method === "server/discover") {
    call.result('{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}');
  } else if (call.method === "tools/list") {
    call.result('{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}');
  } else {
    const text = JSON.stringify(JSON.stringify(call.params["arguments"] ?? null));
    call.result(`{"resultType":"complete","content":[{"type":"text","text":${text}}]}`);
  }
}

function connectorCall(
  connectorKey: string,
  body: string,
  request: IncomingMessage,
  response: ServerResponse,
): ConnectorCall {
  const { id, method, params }: { id: number; method: string; params: Record<string, unknown> } = JSON.parse(body);
  return {
    connectorKey,
    method,
    id,
    params,
    body,
    request,
    response,
    result: (json) => send(response, `{"jsonrpc":"2.0","id":${String(id)},"result":${json}}`),
    error: (code, status = 400, data) =>
      send(response, JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: "no", data } }), status),
  };
}

function send(response: ServerResponse, body: string, status = 200): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(body);
}
