/**
 * A server of the official SDK for the revisions up to 2025-11-25: `interop-sdk-server stdio|sessions|json|stateless|sse [NOTE]`.
 * Over HTTP it prints its URL on a line, and ends when stdin ends. NOTE is the URI of its resource.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { serveOnFreePort } from "../interop/serve-on-free-port.js";

const [mode = "", NOTE = "demo://note"] = process.argv.slice(2);

/** The sessions that are there, with what each is subscribed to: a resource changes for all of them. */
const subscriptions = new Map<McpServer, Set<string>>();

/** What became of the calls of `wait`, by their keys, in all sessions. */
const seen = new Map<string, "waiting" | "aborted">();

interface Serving {
  /** Without a session nobody can be asked, nor told of changes. */
  readonly keepsSession: boolean;
  /** An answer of one JSON message has no room for progress. */
  readonly streams: boolean;
}

/** A server with something for every column, as far as the way it is served has room for it. */
function create({ keepsSession, streams }: Serving): McpServer {
  const resources = keepsSession ? { subscribe: true } : {};
  const server = new McpServer({ name: "interop-sdk", version: "1.0.0" }, { capabilities: { resources } });
  server.registerTool("echo", { inputSchema: { text: z.string() } }, ({ text }) => said(text));
  server.registerTool("wait", { inputSchema: { key: z.string() } }, async ({ key }, { signal }) => {
    seen.set(key, "waiting");
    try {
      await pause(60_000, undefined, { signal });
    } catch {
      seen.set(key, "aborted");
    }
    return said("waited");
  });
  server.registerTool("seen", { inputSchema: { key: z.string() } }, ({ key }) => said(seen.get(key) ?? "nothing"));
  server.registerResource("note", NOTE, { mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: "a note" }],
  }));
  server.registerPrompt("greet", { argsSchema: { name: z.string() } }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${name}` } }],
  }));
  if (streams) addCount(server);
  if (keepsSession) addSessionTools(server);
  return server;
}

/** With `everyMs` there is a pause behind each step. */
const COUNTED = { to: z.int(), everyMs: z.int().optional() };

function addCount(server: McpServer): void {
  server.registerTool("count", { inputSchema: COUNTED }, async ({ to, everyMs = 0 }, { _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    for (let progress = 1; progress <= to; progress += 1) {
      if (progressToken === undefined) break;
      const params = { progressToken, progress, total: to };
      await sendNotification({ method: "notifications/progress", params });
      if (everyMs > 0) await pause(everyMs);
    }
    return said("counted");
  });
}

function addSessionTools(server: McpServer): void {
  const subscribed = new Set<string>();
  subscriptions.set(server, subscribed);
  Object.assign(server.server, { onclose: () => subscriptions.delete(server) });
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => (subscribed.add(params.uri), {}));
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => (subscribed.delete(params.uri), {}));
  server.registerTool("touch", {}, async () => {
    for (const [session, uris] of subscriptions) {
      for (const uri of uris) await session.server.sendResourceUpdated({ uri });
    }
    return said("touched");
  });
  addAsking(server);
}

/** Tools of one question each, which name the answer. */
function addAsking(server: McpServer): void {
  server.registerTool("ask", {}, async () => {
    const { action, content } = await server.server.elicitInput({
      message: "Your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return said(action === "accept" ? `Hello, ${String(content?.["name"])}` : action);
  });
  server.registerTool("visit", {}, async () => {
    const page = { message: "Sign in?", url: "https://127.0.0.1/sign-in", elicitationId: randomUUID() };
    const { action } = await server.server.elicitInput({ mode: "url", ...page });
    return said(`visited: ${action}`);
  });
  server.registerTool("sample", {}, async () => {
    const prompt = { role: "user" as const, content: { type: "text" as const, text: "2+2?" } };
    const { content } = await server.server.createMessage({ messages: [prompt], maxTokens: 10 });
    return said(`sampled: ${JSON.stringify(content)}`);
  });
  server.registerTool("roots", {}, async () => {
    const { roots } = await server.server.listRoots();
    return said(`roots: ${roots.map(({ uri }) => uri).join()}`);
  });
}

function said(text: string): { content: [{ type: "text"; text: string }] } {
  return { content: [{ type: "text", text }] };
}

/** Its own type says that callbacks may be undefined, which exact optional types don't let pass. */
function exact<T extends object>(transport: T): T & Record<"onclose" | "onerror" | "onmessage", () => undefined> {
  return Object.assign(transport, { onclose: () => undefined, onerror: () => undefined, onmessage: () => undefined });
}

/** Streamable HTTP with a session for each `initialize`. */
function serveSessions(isJson: boolean): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  return async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (id !== undefined && known === undefined) {
      response.writeHead(404, { "Content-Type": "application/json" });
      response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
      return;
    }
    await (known ?? (await openSession())).handleRequest(request, response);
  };

  async function openSession(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: isJson,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await create({ keepsSession: true, streams: !isJson }).connect(exact(transport));
    return transport;
  }
}

/** Streamable HTTP with a server for each request. */
async function serveStateless(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== "POST") {
    response.writeHead(405, { Allow: "POST" }).end();
    return;
  }
  const transport = new StreamableHTTPServerTransport({});
  const server = create({ keepsSession: false, streams: true });
  response.on("close", () => void server.close());
  await server.connect(exact(transport));
  await transport.handleRequest(request, response);
}

/** HTTP+SSE of revision 2024-11-05. */
function serveSse(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const sessions = new Map<string, SSEServerTransport>();
  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (request.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/message", response);
      sessions.set(transport.sessionId, transport);
      response.on("close", () => sessions.delete(transport.sessionId));
      await create({ keepsSession: true, streams: true }).connect(exact(transport));
      return;
    }
    const transport = sessions.get(searchParams.get("sessionId") ?? "");
    if (request.method === "POST" && transport !== undefined) await transport.handlePostMessage(request, response);
    else response.writeHead(404).end();
  };
}

switch (mode) {
  case "stdio":
    await create({ keepsSession: true, streams: true }).connect(new StdioServerTransport());
    break;
  case "sessions":
  case "json":
    await serveOnFreePort(serveSessions(mode === "json"), "/mcp");
    break;
  case "stateless":
    await serveOnFreePort(serveStateless, "/mcp");
    break;
  case "sse":
    await serveOnFreePort(serveSse(), "/sse");
    break;
  default:
    throw new Error("interop-sdk-server stdio|sessions|json|stateless|sse");
}
