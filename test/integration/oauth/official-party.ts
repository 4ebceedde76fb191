import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import {
  createOAuthMetadata,
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  createMcpHandler,
  McpServer as ModernMcpServer,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  requireBearerAuth as createGate,
  requireScopes,
} from "@modelcontextprotocol/server";
import { OfficialProvider } from "./official-provider.js";

/** A request as a server got it: its method, and whether it had a token. */
type Received = readonly [method: string, hasToken: boolean];

/** An MCP server of others behind OAuth of others. */
export interface OfficialParty {
  readonly url: string;
  readonly provider: OfficialProvider;
  /** What the MCP endpoint got, in order. */
  readonly received: readonly Received[];
  close(): Promise<void>;
}

type Listening = (request: IncomingMessage, response: ServerResponse) => void;

/** The official server of revision 2025-11-25, with sessions, its authorization server in one program with it. */
export async function startSessionParty(): Promise<OfficialParty> {
  const provider = new OfficialProvider();
  const received: Received[] = [];
  const listening = await listen();
  const url = new URL("/mcp", listening.origin);
  const app = createMcpExpressApp();
  app.use(mcpAuthRouter({ provider, issuerUrl: new URL(listening.origin), resourceServerUrl: url }));
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url);
  const gate = requireBearerAuth({ verifier: provider, resourceMetadataUrl, expectedResource: url });
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const answer = async (request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<void> => {
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    await (known ?? (await openSession(sessions))).handleRequest(request, response, request.body);
  };
  app.use("/mcp", note(received), gate, (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch(() => response.destroy());
  });
  listening.serve(app);
  return { url: url.href, provider, received, close: () => listening.close() };
}

/** The official server of revision 2026-07-28, with the authorization server of the other one beside it. */
export async function startModernParty(): Promise<OfficialParty> {
  const provider = new OfficialProvider();
  const received: Received[] = [];
  const [issuer, server] = await Promise.all([listen(), listen()]);
  const issuerUrl = new URL("/", issuer.origin);
  const issuing = createMcpExpressApp();
  issuing.use(mcpAuthRouter({ provider, issuerUrl, scopesSupported: ["read", "write"] }));
  issuer.serve(issuing);
  const url = new URL("/mcp", server.origin);
  const oauthMetadata = createOAuthMetadata({ provider, issuerUrl });
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url);
  const verifyAccessToken = (token: string) => provider.verifyAccessToken(token).catch(toModernError);
  const gate = createGate({
    verifier: { verifyAccessToken },
    requiredScopes: ["read"],
    resourceMetadataUrl,
    expectedResource: url,
  });
  const handler = createMcpHandler(createModernServer, { keepAliveMs: 0 });
  const answer = async (request: Request): Promise<Response> => {
    const published = oauthMetadataResponse(request, { oauthMetadata, resourceServerUrl: url });
    if (published !== undefined) return published;
    received.push([request.method, request.headers.has("authorization")]);
    const authInfo = await gate(request);
    return authInfo instanceof Response ? authInfo : handler.fetch(request, { authInfo });
  };
  const serveNode = toNodeHandler({ fetch: answer });
  server.serve((request, response) => {
    const { method = "", url: target = "" } = request;
    void serveNode(Object.assign(request, { method, url: target }), response);
  });
  const close = async (): Promise<void> => {
    await Promise.all([handler.close(), issuer.close(), server.close()]);
  };
  return { url: url.href, provider, received, close };
}

function createModernServer(): ModernMcpServer {
  const server = new ModernMcpServer({ name: "official", version: "1.0.0" });
  server.registerTool("read", {}, () => said("read"));
  server.registerTool("write", { scopeChallenge: requireScopes("write") }, () => said("written"));
  return server;
}

function toModernError(error: unknown): never {
  if (error instanceof InvalidTokenError) throw new OAuthError(OAuthErrorCode.InvalidToken, error.message);
  throw error;
}

async function openSession(
  sessions: Map<string, StreamableHTTPServerTransport>,
): Promise<StreamableHTTPServerTransport> {
  const server = new McpServer({ name: "official", version: "1.0.0" });
  server.registerTool("read", {}, () => said("read"));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  // Its own type says that callbacks may be undefined, which exact optional types don't let pass.
  const ignore = (): undefined => undefined;
  await server.connect(Object.assign(transport, { onclose: ignore, onerror: ignore, onmessage: ignore }));
  return transport;
}

function note(received: Received[]): (request: IncomingMessage, response: ServerResponse, next: () => void) => void {
  return (request, _response, next) => {
    received.push([request.method ?? "", request.headers.authorization !== undefined]);
    next();
  };
}

function said(text: string): { content: [{ type: "text"; text: string }] } {
  return { content: [{ type: "text", text }] };
}

/** The port first: what is served names it. */
async function listen(): Promise<{ readonly origin: string; serve(handler: Listening): void; close(): Promise<void> }> {
  const server: Server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    origin: `http://127.0.0.1:${String(port)}`,
    serve: (handler) => void server.on("request", handler),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
