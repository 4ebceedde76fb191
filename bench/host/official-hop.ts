import { createServer, type IncomingMessage } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { listenOnLoopback } from "./listen.js";

const INFO = { name: "hop", version: "1.0.0" };

/** An aggregator of one server, made of the official server and the official client. */
export async function openOfficialHop(upstream: string): Promise<string> {
  const client = new Client(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(upstream)));
  const { tools } = await client.listTools();
  const handler = createMcpHandler(() => {
    const { server } = new McpServer(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools }));
    server.setRequestHandler("tools/call", ({ params }) => client.callTool(params));
    return server;
  });
  const serve = toNodeHandler(handler);
  const hop = createServer((request, response) => {
    if (isServerRequest(request)) void serve(request, response);
  });
  return `${await listenOnLoopback(hop)}/mcp`;
}

/** Requests that a server receives have both; the type is shared with answers that a client receives. */
function isServerRequest(request: IncomingMessage): request is IncomingMessage & { method: string; url: string } {
  return request.method !== undefined && request.url !== undefined;
}
