import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  McpServer,
  type RequestStateCodec,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Opened } from "../../../support/opened.js";

const FORM = { type: "object" as const, properties: { name: { type: "string" as const } }, required: ["name"] };
const SAMPLE = {
  messages: [{ role: "user" as const, content: { type: "text" as const, text: "2+2" } }],
  maxTokens: 10,
};

/** What the two servers of a test did. */
export interface Upstreams {
  /** `http://127.0.0.1:<port>`; the servers are at `/modern` and `/legacy`. */
  readonly origin: string;
  /** Runs of tools by name: of a modern tool, one for each round. */
  readonly runs: Record<string, number>;
  /** Calls at the legacy server whose signal fired, by what they were for. */
  readonly cancelled: string[];
  /** Calls of its tool `linger` that were answered, and wait for their end. */
  readonly lingering: string[];
  /** What clients of the legacy server declared. */
  readonly declared: unknown[];
}

/** Official servers of both eras, whose tools ask before they answer. */
export async function askingUpstreams(opened: Opened): Promise<Upstreams> {
  const upstreams: Omit<Upstreams, "origin"> = { runs: {}, cancelled: [], lingering: [], declared: [] };
  const states = createRequestStateCodec({ key: randomBytes(32) });
  const modern = toNodeHandler(createMcpHandler(() => modernServer(states, upstreams), { keepAliveMs: 0 }));
  const legacy = legacyHandler(upstreams);
  const server = createServer((request, response) => {
    if (!isServerRequest(request)) return void response.destroy();
    const serve = request.url === "/modern" ? modern(request, response) : legacy(request, response);
    Promise.resolve(serve).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  opened.push({
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { ...upstreams, origin: `http://127.0.0.1:${String(port)}` };
}

const ARGS = z.object({ whom: z.string().default("you") });

function ran({ runs }: Pick<Upstreams, "runs">, name: string): void {
  runs[name] = (runs[name] ?? 0) + 1;
}

function says(text: unknown) {
  return { content: [{ type: "text" as const, text: JSON.stringify(text) }] };
}

function prompts(said: unknown) {
  const content = { type: "text" as const, text: JSON.stringify(said) };
  return { messages: [{ role: "user" as const, content }] };
}

function modernServer(states: RequestStateCodec, upstreams: Omit<Upstreams, "origin">): McpServer {
  const server = new McpServer(
    { name: "modern", version: "1.0.0" },
    { requestState: { verify: (state, context) => states.verify(state, context) } },
  );
  server.registerTool("greet", { inputSchema: ARGS }, async ({ whom }, { mcpReq }) => {
    ran(upstreams, "greet");
    const answer = inputResponse(mcpReq.inputResponses, "who");
    if (answer.kind !== "missing") return says(["greeted", whom, answer]);
    const who = inputRequired.elicit({ message: `Who is ${whom}?`, requestedSchema: FORM });
    return inputRequired({ inputRequests: { who }, requestState: await states.mint(1) });
  });
  server.registerTool("many", { inputSchema: ARGS }, async ({ whom }, { mcpReq }) => {
    ran(upstreams, "many");
    const given = ["who", "sum", "where"].map((key) => inputResponse(mcpReq.inputResponses, key));
    if (given.every(({ kind }) => kind !== "missing")) return says(given);
    return inputRequired({
      inputRequests: {
        who: inputRequired.elicit({ message: `Who is ${whom}?`, requestedSchema: FORM }),
        sum: inputRequired.createMessage(SAMPLE),
        where: inputRequired.listRoots(),
      },
    });
  });
  server.registerPrompt("ask", {}, ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "who");
    if (answer.kind !== "missing") return prompts(answer);
    return inputRequired({
      inputRequests: { who: inputRequired.elicit({ message: "For whom?", requestedSchema: FORM }) },
    });
  });
  return server;
}

function legacyServer(upstreams: Omit<Upstreams, "origin">): McpServer {
  const server = new McpServer({ name: "legacy", version: "1.0.0" });
  server.registerTool("greet", { inputSchema: ARGS }, async ({ whom }, { mcpReq }) => {
    ran(upstreams, "greet");
    upstreams.declared.push(server.server.getClientCapabilities());
    mcpReq.signal.addEventListener("abort", () => upstreams.cancelled.push(whom));
    const answer = await mcpReq.elicitInput({ message: `Who is ${whom}?`, requestedSchema: FORM });
    return says(["greeted", whom, answer]);
  });
  server.registerTool("linger", { inputSchema: ARGS }, async ({ whom }, { mcpReq }) => {
    ran(upstreams, "linger");
    await mcpReq.elicitInput({ message: `Who is ${whom}?`, requestedSchema: FORM });
    upstreams.lingering.push(whom);
    await once(mcpReq.signal, "abort");
    upstreams.cancelled.push(whom);
    return says("late");
  });
  server.registerTool("many", { inputSchema: ARGS }, async ({ whom }, { mcpReq }) => {
    ran(upstreams, "many");
    const who = await mcpReq.elicitInput({ message: `Who is ${whom}?`, requestedSchema: FORM });
    const sum = await mcpReq.requestSampling(SAMPLE);
    const where = await server.server.listRoots();
    return says([who, sum, where]);
  });
  server.registerPrompt("ask", {}, async ({ mcpReq }) =>
    prompts(await mcpReq.elicitInput({ message: "For whom?", requestedSchema: FORM })),
  );
  return server;
}

/** A session for each client. */
function legacyHandler(upstreams: Omit<Upstreams, "origin">) {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (known !== undefined) return known.handleRequest(request, response);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    });
    await legacyServer(upstreams).connect(transport);
    return transport.handleRequest(request, response);
  };
}

/** Requests that a server receives have both; the type is shared with answers that a client receives. */
function isServerRequest(request: IncomingMessage): request is IncomingMessage & { method: string; url: string } {
  return request.method !== undefined && request.url !== undefined;
}
