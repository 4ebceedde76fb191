/**
 * The official server of both eras: `interop-server stdio|http|sessions [NOTE]`. `http` serves older clients without a session,
 * `sessions` with one. Over HTTP it prints its URL on a line, and ends when stdin ends. NOTE is the URI of its resource.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  type InputRequest,
  inputRequired,
  inputResponse,
  type InputResponseView,
  isLegacyRequest,
  McpServer,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";
import { type HttpServing, serveOnFreePort } from "../interop/serve-on-free-port.js";

const [mode = "", NOTE = "demo://note"] = process.argv.slice(2);

/** The sessions that are there: a resource changes for all of them. */
const opened = new Set<McpServer>();

/** What became of the calls of `wait`, by their keys, in all sessions. */
const seen = new Map<string, "waiting" | "aborted">();

interface Serving {
  /** Whether changes can be told of. */
  readonly tells: boolean;
  /** Whether the client can be asked. */
  readonly asks: boolean;
  /** Tells of a change of a resource, where the server itself can't. */
  readonly publish?: ((uri: string) => void) | undefined;
}

/** With `everyMs` there is a pause behind each step. */
const COUNTED = z.object({ to: z.int(), everyMs: z.int().optional() });

/** A server with something for every column. */
function create({ tells, asks, publish }: Serving): McpServer {
  const capabilities = { resources: tells ? { subscribe: true } : {} };
  const server = new McpServer({ name: "interop", version: "1.0.0" }, { capabilities });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => said(text));
  server.registerTool("count", { inputSchema: COUNTED }, async ({ to, everyMs = 0 }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (let progress = 1; progress <= to; progress += 1) {
      if (progressToken === undefined) break;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: to } });
      if (everyMs > 0) await pause(everyMs);
    }
    return said("counted");
  });
  server.registerTool("wait", { inputSchema: z.object({ key: z.string() }) }, async ({ key }, { mcpReq }) => {
    seen.set(key, "waiting");
    try {
      await pause(60_000, undefined, { signal: mcpReq.signal });
    } catch {
      seen.set(key, "aborted");
    }
    return said("waited");
  });
  server.registerTool("seen", { inputSchema: z.object({ key: z.string() }) }, ({ key }) =>
    said(seen.get(key) ?? "nothing"),
  );
  server.registerResource("note", NOTE, { mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: "a note" }],
  }));
  server.registerPrompt("greet", { argsSchema: z.object({ name: z.string() }) }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Greet ${name}` } }],
  }));
  if (tells) {
    if (publish === undefined) {
      opened.add(server);
      Object.assign(server.server, { onclose: () => opened.delete(server) });
    }
    server.registerTool("touch", {}, async () => {
      if (publish !== undefined) publish(NOTE);
      else for (const session of opened) await session.server.sendResourceUpdated({ uri: NOTE });
      return said("touched");
    });
  }
  if (asks) addAsking(server);
  return server;
}

/** Tools of one question each, which name the answer. */
function addAsking(server: McpServer): void {
  const form = { message: "Your name?", requestedSchema: NAMED };
  addQuestion(server, "ask", inputRequired.elicit(form), (answer) =>
    answer.kind === "elicit" && answer.action === "accept" ? `Hello, ${String(answer.content?.["name"])}` : undefined,
  );
  const page = { message: "Sign in?", url: "https://127.0.0.1/sign-in" };
  addQuestion(server, "visit", inputRequired.elicitUrl(page), (answer) =>
    answer.kind === "elicit" ? `visited: ${answer.action}` : undefined,
  );
  const prompt = { role: "user" as const, content: { type: "text" as const, text: "2+2?" } };
  addQuestion(server, "sample", inputRequired.createMessage({ messages: [prompt], maxTokens: 10 }), (answer) =>
    answer.kind === "sampling" ? `sampled: ${JSON.stringify(answer.result.content)}` : undefined,
  );
  addQuestion(server, "roots", inputRequired.listRoots(), (answer) =>
    answer.kind === "roots" ? `roots: ${answer.roots.map(({ uri }) => uri).join()}` : undefined,
  );
}

const NAMED = {
  type: "object" as const,
  properties: { name: { type: "string" as const } },
  required: ["name"],
};

/** A tool that asks until `read` makes a text of the answer. */
function addQuestion(
  server: McpServer,
  name: string,
  question: InputRequest,
  read: (answer: InputResponseView) => string | undefined,
): void {
  server.registerTool(name, {}, ({ mcpReq }) => {
    const text = read(inputResponse(mcpReq.inputResponses, "question"));
    return text === undefined ? inputRequired({ inputRequests: { question } }) : said(text);
  });
}

function said(text: string): { content: [{ type: "text"; text: string }] } {
  return { content: [{ type: "text", text }] };
}

/** Subscriptions are lasting in the older era: the server has to know them. */
function createForSession(): McpServer {
  const server = create({ tells: true, asks: true });
  for (const method of ["resources/subscribe", "resources/unsubscribe"] as const) {
    server.server.setRequestHandler(method, () => ({}));
  }
  return server;
}

const handler = createMcpHandler(
  ({ era }) => {
    if (era === "legacy") return create({ tells: false, asks: false });
    return create({ tells: true, asks: true, publish: (uri) => handler.notify.resourceUpdated(uri) });
  },
  { legacy: "stateless", keepAliveMs: 0 },
);
const serveHandler = toNodeHandler(handler);

const serveHttp: HttpServing = async (request, response) => {
  if (isServerRequest(request)) await serveHandler(request, response);
};

/** Older clients get a session, the others are served request by request. */
function serveSessions(): HttpServing {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  return async (request, response) => {
    const body = await readJson(request);
    if (!isServerRequest(request)) return;
    if (!(await isLegacyRequest(await toWebRequest(request, body), body))) {
      await serveHandler(request, response, body);
      return;
    }
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (id !== undefined && known === undefined) response.writeHead(404).end();
    else await (known ?? (await openSession())).handleRequest(request, response, body);
  };

  async function openSession(): Promise<NodeStreamableHTTPServerTransport> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await createForSession().connect(transport);
    return transport;
  }
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

switch (mode) {
  case "stdio":
    serveStdio(({ era }) => (era === "legacy" ? createForSession() : create({ tells: true, asks: true })));
    break;
  case "http":
    await serveOnFreePort(serveHttp, "/mcp");
    break;
  case "sessions":
    await serveOnFreePort(serveSessions(), "/mcp");
    break;
  default:
    throw new Error("interop-server stdio|http|sessions");
}
