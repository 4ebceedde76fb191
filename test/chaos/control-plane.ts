import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { WebSocketServer } from "ws";
import { INSTALLED_KEY, REGISTERED_KEY } from "./wishes.js";
import { isAccount, OPEN_KEY, type World } from "./world.js";

const SLOW_MS = 60;
/** Longer than it takes to publish a connector. */
const LATE_MS = 250;
/** Where the server is that is registered. */
export const DEVICE_PATH = "/device/mcp";
/** They need no authorization. */
const FREE: ReadonlySet<string> = new Set([OPEN_KEY, INSTALLED_KEY, REGISTERED_KEY]);
const SESSIONS = "/v1/connector-authorization-sessions/";

interface Request {
  readonly id: number;
  readonly method: string;
}

/** The control plane and the gateway of a world, on a real port. */
export class ControlPlane {
  readonly #world: World;
  readonly #server: Server;
  readonly #hints = new WebSocketServer({ noServer: true });
  readonly #timers = new Set<NodeJS.Timeout>();
  /** The flows that were asked for, by account and their own id. */
  readonly flows: { readonly account: string; readonly id: string }[] = [];

  private constructor(world: World) {
    this.#world = world;
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.on("upgrade", (request, socket, head) => {
      socket.on("error", () => undefined);
      this.#hints.handleUpgrade(request, socket, head, (hints) => hints.on("error", () => undefined));
    });
  }

  static async listen(world: World): Promise<ControlPlane> {
    const plane = new ControlPlane(world);
    plane.#server.listen(0, "127.0.0.1");
    await once(plane.#server, "listening");
    return plane;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${String(typeof address === "object" && address !== null ? address.port : 0)}`;
  }

  /** Says that something may have changed. */
  hint(): void {
    for (const socket of this.#hints.clients) {
      socket.send(JSON.stringify({ event_type: "connector.authorization.changed", payload: { revision: 1 } }));
    }
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const socket of this.#hints.clients) socket.terminate();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    response.on("error", () => undefined);
    request.on("error", () => undefined);
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const account = /^session=(\w+)$/.exec(request.headers.cookie ?? "")?.[1] ?? "";
      const path = request.url ?? "";
      const body = Buffer.concat(chunks).toString();
      const [, key, resource] = /^\/v1\/connectors\/([^/]+)\/([a-z-]+)$/.exec(path) ?? [];
      if (path === DEVICE_PATH) this.#answer(response, "", REGISTERED_KEY, body);
      else if (!isAccount(account)) send(response, "", 401);
      else if (path === "/v1/connector-authorizations/snapshot") this.#sendSnapshot(response, account);
      else if (request.method === "DELETE") send(response, "", 204);
      else if (path.startsWith(SESSIONS)) this.#sendSession(response, account, path.slice(SESSIONS.length));
      else if (key === undefined) send(response, "", 404);
      else if (resource === "mcp") this.#answer(response, account, key, body);
      else this.#beginSession(response, account, key, body);
    });
  }

  /** A session's id says which connector it is for: what comes of it is what is the case by then. */
  #beginSession(response: ServerResponse, account: string, key: string, body: string): void {
    const { clientRequestId: id, connectorVersion }: { clientRequestId: string; connectorVersion: string } =
      JSON.parse(body);
    this.flows.push({ account, id });
    const nextAction = { type: "redirect", url: "https://provider.example/consent" };
    const session = {
      sessionId: `${key}.${id}`,
      status: "awaiting_user",
      connectorRevision: connectorVersion,
      nextAction,
    };
    send(response, JSON.stringify({ session }));
  }

  #sendSession(response: ServerResponse, account: string, sessionId: string): void {
    const [key = ""] = sessionId.split(".");
    const resultConnectionId = this.#world.connectionOf(account, key);
    const status = resultConnectionId === undefined ? "canceled" : "succeeded";
    send(response, JSON.stringify({ session: { sessionId, status, resultConnectionId } }));
  }

  #sendSnapshot(response: ServerResponse, account: Parameters<World["snapshot"]>[0]): void {
    const trouble = this.#world.troubles.shift();
    if (typeof trouble === "number") send(response, "", trouble);
    else if (trouble === "previous") send(response, this.#world.previousSnapshot(account));
    else if (trouble === "late") this.#later(LATE_MS, () => send(response, this.#world.snapshot(account)));
    else send(response, this.#world.snapshot(account));
  }

  #answer(response: ServerResponse, account: string, key: string, body: string): void {
    const { id, method }: Request = JSON.parse(body);
    const fail = (code: number, status: number): void =>
      send(response, JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: "no" } }), status);
    const work = (): void => send(response, `{"jsonrpc":"2.0","id":${String(id)},"result":${resultOf(method)}}`);
    if (!FREE.has(key) && !this.#world.isConnected(account, key)) {
      fail(-33001, 428);
      return;
    }
    switch (this.#world.behaviourOf(key)) {
      case "working":
        work();
        return;
      case "slow":
        this.#later(SLOW_MS, work);
        return;
      case "broken":
        response.destroy();
        return;
      case "busy":
        fail(-33003, 503);
        return;
      case "demanding":
        fail(-33001, 428);
        return;
      case "demanding_again":
        fail(-33002, 428);
        return;
      case "senseless":
        send(response, "what?");
        return;
    }
  }

  #later(afterMs: number, run: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      run();
    }, afterMs);
    this.#timers.add(timer);
  }
}

function resultOf(method: string): string {
  switch (method) {
    case "server/discover":
      return '{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}';
    case "tools/list":
      return '{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}';
    default:
      return '{"resultType":"complete","content":[]}';
  }
}

function send(response: ServerResponse, body: string, status = 200): void {
  response.writeHead(status, { "Content-Type": "application/json" }).end(body);
}
