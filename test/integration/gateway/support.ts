import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { createGateway, type Gateway, type GatewayConnector, type GatewayOptions } from "../../../src/gateway/index.js";
import { type HttpListener, listen, readBody } from "../../../src/serving/index.js";

const ADMIN_BEARER = "admin-bearer-of-the-tests";
export const VERSION = "1.0.0";
const REVISION = "2026-07-28";

/** What a test closes when it is over, in the reverse order. */
export class Cleanup {
  readonly #tasks: (() => unknown)[] = [];

  add(task: () => unknown): void {
    this.#tasks.push(task);
  }

  async run(): Promise<void> {
    for (const task of this.#tasks.splice(0).toReversed()) await task();
  }
}

/** Starts a gateway in front of `connectors`, for the accounts `ada` (session `s-ada`) and `bob` (`s-bob`). */
export async function startGateway(
  cleanup: Cleanup,
  connectors: readonly GatewayConnector[],
  options: Partial<GatewayOptions> = {},
): Promise<Gateway> {
  const gateway = await createGateway({
    accounts: [
      { accountId: "ada", sessions: ["s-ada"] },
      { accountId: "bob", sessions: ["s-bob"] },
    ],
    adminBearer: ADMIN_BEARER,
    connectors,
    ...options,
  });
  cleanup.add(() => gateway.close());
  return gateway;
}

export function httpConnector(
  connectorId: string,
  url: string,
  authorization: "account" | "none" = "none",
): GatewayConnector {
  return { connectorId, connectorVersion: VERSION, authorization, upstream: { kind: "http", url } };
}

export function stdioConnector(
  connectorId: string,
  args: readonly string[],
  authorization: "account" | "none" = "none",
  env: Readonly<Record<string, string>> = {},
): GatewayConnector {
  const upstream = { kind: "stdio", command: process.execPath, args, env } as const;
  return { connectorId, connectorVersion: VERSION, authorization, upstream };
}

export interface CallSpec {
  readonly connectorId: string;
  readonly method: string;
  readonly params?: Record<string, unknown>;
  readonly meta?: Record<string, unknown>;
  readonly id?: unknown;
  /** Laid over the headers of a right request; `undefined` takes one away. */
  readonly headers?: Record<string, string | undefined>;
  /** In place of the body that the rest describes. */
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Sends a request as a right client would, but for what `spec` changes. */
export function post(gateway: Gateway, spec: CallSpec): Promise<Response> {
  const { connectorId, id = 1, method, params = {}, signal } = spec;
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "sh.tutti/connectorVersion": VERSION,
    ...spec.meta,
  };
  const name = params["name"];
  const headers: Record<string, string | undefined> = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": REVISION,
    "Mcp-Method": method,
    ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
    "Tutti-Connector-Version": VERSION,
    Cookie: "session=s-ada",
    ...spec.headers,
  };
  return fetch(`${gateway.origin}/v1/connectors/${connectorId}/mcp`, {
    method: "POST",
    headers: Object.entries(headers).flatMap(([header, value]) => (value === undefined ? [] : [[header, value]])),
    body: spec.body ?? JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } }),
    signal: signal ?? null,
  });
}

/** A call of the admin side. */
export function admin(
  gateway: Gateway,
  method: string,
  path: string,
  body?: unknown,
  bearer = ADMIN_BEARER,
): Promise<Response> {
  return fetch(`${gateway.adminOrigin ?? ""}${path}`, {
    method,
    headers: { Authorization: `Bearer ${bearer}` },
    body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
  });
}

export function snapshotOf(gateway: Gateway, session: string): Promise<Response> {
  return fetch(`${gateway.origin}/v1/connector-authorizations/snapshot`, { headers: { Cookie: `session=${session}` } });
}

/** A request that a scripted upstream received. */
export interface Received {
  readonly method: string;
  readonly id: unknown;
  readonly params: Record<string, unknown>;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
  /** Resolves when the exchange is over, whoever ended it. */
  readonly closed: Promise<unknown>;
}

export interface ScriptedUpstream {
  readonly url: string;
  readonly received: Received[];
}

/** An HTTP server that answers each request as the test says. Unless it says otherwise, it has one tool, `echo`. */
export async function startUpstream(
  cleanup: Cleanup,
  answer: (request: Received) => unknown,
): Promise<ScriptedUpstream> {
  const received: Received[] = [];
  const listener: HttpListener = await listen(
    async (request, response) => {
      const reading = await readBody(request, { maxBytes: 10_000_000 });
      if (reading.kind !== "complete") return;
      const text = Buffer.from(reading.body).toString("utf8");
      const { id, method, params } = JSON.parse(text);
      const exchange = {
        method,
        id,
        params,
        text,
        headers: request.headers,
        response,
        closed: once(response, "close"),
      };
      received.push(exchange);
      if ((await answer(exchange)) === undefined && method === "tools/list" && !response.headersSent) {
        json(
          response,
          id,
          '{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"echo","inputSchema":{"type":"object"}}]}',
        );
      }
    },
    { closeTimeoutMs: 50 },
  );
  cleanup.add(() => listener.close());
  return { url: `${listener.origin}/mcp`, received };
}

/** Answers with a result, given as its exact text. */
export function json(response: ServerResponse, id: unknown, rawResult: string): void {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${rawResult}}`);
}

/** Answers with a status and any body. */
export function raw(
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "Content-Type": type, ...headers });
  response.end(body);
}

/** Whether a process runs; one that ended and waits to be reaped does not. */
export function runs(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${String(pid)}/status`, "utf8"));
  } catch {
    return false;
  }
}
