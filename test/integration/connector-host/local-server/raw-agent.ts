import { request as httpRequest } from "node:http";
import type { BoundAgent } from "../../../../src/connector-host/local-server/index.js";
import { encodeHeaderValue, MetaKey } from "../../../../src/protocol/index.js";

/** A plain answer over HTTP. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export const ACCEPT_BOTH = "application/json, text/event-stream";

/** Metadata of a modern request. */
export function modernMeta(more: object = {}): object {
  return { [MetaKey.protocolVersion]: "2026-07-28", [MetaKey.clientCapabilities]: {}, ...more };
}

/** The text of a modern request's body. `params` is JSON text, without `_meta`. */
export function modernBody(
  method: string,
  params = "{}",
  options: { id?: number | string; meta?: object } = {},
): string {
  const meta = JSON.stringify(modernMeta(options.meta));
  const inner = params.trim().slice(1, -1).trim();
  const members = inner === "" ? `"_meta":${meta}` : `${inner},"_meta":${meta}`;
  return `{"jsonrpc":"2.0","id":${JSON.stringify(options.id ?? 1)},"method":"${method}","params":{${members}}}`;
}

/** The headers that go with a modern request. */
export function modernHeaders(method: string, name?: string): Record<string, string> {
  return {
    "Content-Type": "application/json",
    Accept: ACCEPT_BOTH,
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": method,
    ...(name === undefined ? {} : { "Mcp-Name": encodeHeaderValue(name) }),
  };
}

/** Posts a text to the server as the bound agent. Headers given as `undefined` are left out. */
export async function post(
  agent: BoundAgent,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string | undefined>,
  init: RequestInit = {},
): Promise<RawAnswer> {
  const all = Object.entries({ ...agent.headers, ...headers }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as [string, string]],
  );
  const response = await fetch(agent.url, { method: "POST", body, headers: all, ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Calls a tool in modern form; `args` is JSON text. */
export function callModern(
  agent: BoundAgent,
  name: string,
  args = "{}",
  options: {
    meta?: object;
    headers?: Record<string, string | undefined>;
    signal?: AbortSignal;
    id?: number | string;
  } = {},
): Promise<RawAnswer> {
  const params = `{"name":${JSON.stringify(name)},"arguments":${args}}`;
  const headers = { ...modernHeaders("tools/call", name), ...options.headers };
  const init = options.signal === undefined ? {} : { signal: options.signal };
  return post(agent, modernBody("tools/call", params, options), headers, init);
}

/** Posts in a legacy form. */
export function postLegacy(
  agent: BoundAgent,
  message: unknown,
  headers: Record<string, string | undefined> = {},
): Promise<RawAnswer> {
  const body = typeof message === "string" ? message : JSON.stringify(message);
  return post(agent, body, { "Content-Type": "application/json", Accept: ACCEPT_BOTH, ...headers });
}

/** The JSON messages of a stream. */
export function messagesOf(stream: string): unknown[] {
  return stream
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => JSON.parse(event.slice("data: ".length)) as unknown);
}

/** A request with headers that `fetch` sets by itself, such as `Host`. */
export function plainRequest(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method: options.method ?? "POST", headers: options.headers ?? {} });
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      response.on("error", reject);
    });
    request.end(options.body);
  });
}
