/**
 * An official server of both eras with everything that the server scenarios of the conformance suite name. Prints its URL on a
 * line, and ends when stdin ends. Older clients get a session each; the others are served request by request.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  createRequestStateCodec,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { createUpstream, type Shared } from "../conformance/upstream/create-upstream.js";
import { serveOnFreePort } from "../interop/serve-on-free-port.js";

const shared: Shared = {
  states: createRequestStateCodec({ key: randomBytes(32) }),
  changes: { tools: 0, prompts: 0 },
  announce: {
    toolsChanged: () => handler.notify.toolsChanged(),
    promptsChanged: () => handler.notify.promptsChanged(),
  },
};
const handler = createMcpHandler(() => createUpstream("modern", shared), { keepAliveMs: 0 });
const serveModern = toNodeHandler(handler);
const sessions = new Map<string, NodeStreamableHTTPServerTransport>();

await serveOnFreePort(async (request, response) => {
  if (!isServerRequest(request) || !isFromHere(request)) {
    response.writeHead(403).end();
    return;
  }
  const body = await readJson(request);
  if (await isLegacyRequest(await toWebRequest(request, body), body)) await serveLegacy(request, response, body);
  else await serveModern(request, response, body);
}, "/mcp");

async function serveLegacy(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
  const id = request.headers["mcp-session-id"];
  const known = typeof id === "string" ? sessions.get(id) : undefined;
  if (id !== undefined && known === undefined) response.writeHead(404).end();
  else await (known ?? (await openSession())).handleRequest(request, response, body);
}

async function openSession(): Promise<NodeStreamableHTTPServerTransport> {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  const server = createUpstream("legacy", shared);
  const subscribed = new Set<string>();
  server.server.setRequestHandler("resources/subscribe", ({ params }) => (subscribed.add(params.uri), {}));
  server.server.setRequestHandler("resources/unsubscribe", ({ params }) => (subscribed.delete(params.uri), {}));
  await server.connect(transport);
  return transport;
}

/** Pages of elsewhere that were given a name of this machine may not call. */
function isFromHere({ headers }: IncomingMessage): boolean {
  return (
    validateHostHeader(headers.host, localhostAllowedHostnames()).ok &&
    validateOriginHeader(headers.origin, localhostAllowedOrigins()).ok
  );
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? undefined : JSON.parse(text);
}

/** Requests that a server receives have both; the type is shared with answers that a client receives. */
function isServerRequest(request: IncomingMessage): request is IncomingMessage & { method: string; url: string } {
  return request.method !== undefined && request.url !== undefined;
}
