import { afterEach } from "vitest";
import {
  ModernStreamableHTTPClient,
  type ModernStreamableHTTPClientOptions,
} from "../../../src/modern-client/index.js";
import { httpAnswer, idOf, type RawRequest, RawServer } from "../../support/raw-server.js";

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

/** A client that is closed after the test. */
export function connect(endpoint: string, options: Partial<ModernStreamableHTTPClientOptions> = {}) {
  const client = new ModernStreamableHTTPClient({ endpoint, clientInfo: { name: "test", version: "1" }, ...options });
  open.unshift(client);
  return client;
}

/** Serves JSON-RPC: a result for each method, as JSON or as the lines of an event stream. */
export async function serve(resultOf: (method: string, request: RawRequest) => unknown): Promise<RawServer> {
  const server = await RawServer.start((request) => {
    const { id, method }: { id: number; method: string } = JSON.parse(request.body);
    const answer = resultOf(method, request);
    if (Buffer.isBuffer(answer)) request.socket.write(answer);
    else request.socket.write(httpAnswer(JSON.stringify({ jsonrpc: "2.0", id, result: answer })));
  });
  open.push(server);
  return server;
}

export interface SentMessage {
  readonly id: unknown;
  readonly method: string;
  readonly params: Record<string, unknown>;
}
export const bodies = (server: RawServer): SentMessage[] =>
  server.requests.map(({ body }) => {
    const message: SentMessage = JSON.parse(body);
    return message;
  });
export const rpcError = (request: RawRequest, code: number, status = 400, data?: unknown): Buffer =>
  httpAnswer(JSON.stringify({ jsonrpc: "2.0", id: idOf(request), error: { code, message: "no", data } }), { status });
export const stream = (...events: string[]): Buffer =>
  httpAnswer(events.map((text) => `${text}\n\n`).join(""), { type: "text/event-stream" });
export const event = (value: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...value })}`;

/** A tool whose one argument is mirrored. */
export const regionTool = (header: string) => ({
  name: "run",
  inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } },
});
