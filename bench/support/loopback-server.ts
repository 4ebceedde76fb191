/** A small MCP server of both eras on loopback, in a process of its own, so that every client is measured against the same cost. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

const TOOL = {
  name: "echo",
  description: "Gives the text back.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

const SESSION = "session-of-the-loopback-server";

interface Incoming {
  readonly id?: number | string;
  readonly method: string;
  readonly params: { readonly arguments?: { readonly text?: string } };
}

function resultOf({ method, params }: Incoming): unknown {
  switch (method) {
    case "server/discover":
      return {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} },
        ttlMs: 0,
        cacheScope: "private",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "loopback", version: "1" } },
      };
    case "initialize":
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "loopback", version: "1" },
      };
    case "tools/list":
      return { resultType: "complete", tools: [TOOL], ttlMs: 0, cacheScope: "private" };
    default:
      return { resultType: "complete", content: [{ type: "text", text: params.arguments?.text ?? "" }] };
  }
}

function answer(response: ServerResponse, message: Incoming): void {
  const body = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: resultOf(message) });
  const session = message.method === "initialize" ? { "Mcp-Session-Id": SESSION } : {};
  response.writeHead(200, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    ...session,
  });
  response.end(body);
}

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  if (request.method !== "POST") {
    response.writeHead(request.method === "DELETE" ? 200 : 405).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const message: Incoming = JSON.parse(Buffer.concat(chunks).toString());
    if (message.id === undefined) response.writeHead(202).end();
    else answer(response, message);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address !== null ? address.port : 0);
});
process.on("disconnect", () => process.exit(0));
