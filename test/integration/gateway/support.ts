import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { WebSocket } from "ws";
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

/** A connector over HTTP that accounts authorize by themselves. */
export function authorizingConnector(
  connectorId: string,
  url: string,
  authorizing: NonNullable<GatewayConnector["authorizing"]>,
): GatewayConnector {
  return { ...httpConnector(connectorId, url, "account"), authorizing };
}

/** A request to the control plane, as `session` says whose. */
export function control(
  gateway: Gateway,
  method: string,
  path: string,
  body?: unknown,
  session = "s-ada",
): Promise<Response> {
  return fetch(`${gateway.origin}/v1/${path}`, {
    method,
    headers: { Cookie: `session=${session}`, "Content-Type": "application/json" },
    body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** A session as the control plane tells of it. */
export interface ShownSession {
  readonly sessionId: string;
  readonly connectorRevision: string;
  readonly status: string;
  readonly errorCode?: string;
  readonly resultConnectionId?: string;
  readonly nextAction?: { readonly type: string; readonly url?: string };
}

/** The session of an answer, which must be one. */
export async function sessionOf(answer: Response | Promise<Response>): Promise<ShownSession> {
  const { session }: { session?: ShownSession } = JSON.parse(await (await answer).text());
  if (session === undefined) throw new Error(`There is no session in an answer of ${(await answer).status}.`);
  return session;
}

/** Begins a session for `ada`. */
export function beginSession(
  gateway: Gateway,
  connectorId: string,
  changes: Record<string, unknown> = {},
): Promise<Response> {
  const body = { clientRequestId: "request-1", connectorVersion: VERSION, ...changes };
  return control(gateway, "POST", `connectors/${connectorId}/authorization-sessions`, body);
}

/** Goes through a whole session with a secret; gives the connection's id. */
export async function authorizeBySecret(
  gateway: Gateway,
  connectorId: string,
  secret: string,
  clientRequestId = "request-1",
): Promise<string> {
  const { sessionId } = await sessionOf(beginSession(gateway, connectorId, { clientRequestId }));
  const path = `connector-authorization-sessions/${sessionId}/complete`;
  const { resultConnectionId = "" } = await sessionOf(control(gateway, "POST", path, { secret: { secret } }));
  return resultConnectionId;
}

/** The text of a call of the tool `echo`, or the status and code of its refusal. */
export async function callEcho(gateway: Gateway, connectorId: string): Promise<string> {
  const answer = await post(gateway, { connectorId, method: "tools/call", params: { name: "echo", arguments: {} } });
  const { error, result } = JSON.parse(await answer.text());
  return error === undefined ? result.content[0].text : `${String(answer.status)} ${String(error.code)}`;
}

/** An HTTP server whose tool `echo` tells the header that it was given; `isTaken` says which it takes. */
export function startCredentialUpstream(
  cleanup: Cleanup,
  isTaken: (header: string | undefined) => boolean = () => true,
  header = "authorization",
): Promise<ScriptedUpstream> {
  return startUpstream(cleanup, ({ headers, id, method, response }) => {
    const given = headers[header];
    const credential = typeof given === "string" ? given : undefined;
    if (!isTaken(credential)) raw(response, 401, "text/plain", "no");
    else if (method === "tools/call") json(response, id, resultOf(credential ?? "none"));
  });
}

function resultOf(text: string): string {
  return JSON.stringify({ resultType: "complete", content: [{ type: "text", text }] });
}

/** A program whose tool `echo` tells the environment variable that it was given, and its process id. */
export const CREDENTIAL_PROGRAM = [
  "const { createInterface } = require('node:readline');",
  "const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');",
  "createInterface({ input: process.stdin }).on('line', (line) => {",
  "  const { id, method } = JSON.parse(line);",
  "  if (method === 'initialize') say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } });",
  "  if (method === 'tools/list') say(id, { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });",
  "  if (method === 'tools/call') say(id, { content: [{ type: 'text', text: (process.env.PROVIDER_KEY ?? 'none') + ' ' + process.pid }] });",
  "});",
].join("\n");

/** A subscriber to hints, and what it was told. */
export async function subscribe(
  cleanup: Cleanup,
  gateway: Gateway,
  session = "s-ada",
): Promise<{ socket: WebSocket; told: unknown[] }> {
  const socket = new WebSocket(`${gateway.origin.replace("http", "ws")}/v1/events`, {
    headers: { Cookie: `session=${session}` },
  });
  cleanup.add(() => socket.terminate());
  const told: unknown[] = [];
  socket.on("message", (data: Buffer) => told.push(JSON.parse(data.toString("utf8"))));
  await once(socket, "open");
  return { socket, told };
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
