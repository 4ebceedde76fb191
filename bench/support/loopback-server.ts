/** A small MCP server on loopback, in a process of its own, so that every client is measured against the same cost. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

const TOOL = {
  name: "echo",
  description: "Gives the text back.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

interface Incoming {
  readonly id: number | string;
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
    case "tools/list":
      return { resultType: "complete", tools: [TOOL], ttlMs: 0, cacheScope: "private" };
    default:
      return { resultType: "complete", content: [{ type: "text", text: params.arguments?.text ?? "" }] };
  }
}

function answer(response: ServerResponse, message: Incoming): void {
  const body = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: resultOf(message) });
  response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  response.end(body);
}

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const message: Incoming = JSON.parse(Buffer.concat(chunks).toString());
    answer(response, message);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address !== null ? address.port : 0);
});
process.on("disconnect", () => process.exit(0));
