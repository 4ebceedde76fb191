/**
 * Any number of connectors of one gateway, in a process of its own. Two of them are ill: `slow` takes two seconds for its first
 * answer, and `dead` never gives one.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnLoopback } from "./listen.js";
import { tellCpu } from "./tell-cpu.js";

const SLOW_MS = 2_000;
const PATH = /^\/v1\/connectors\/([^/]+)\/mcp$/;

const TOOL = {
  name: "echo",
  description: "Gives the text back.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

const DISCOVERED = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "private",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "fleet", version: "1" } },
};

let isSlow = true;

const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const key = PATH.exec(request.url ?? "")?.[1];
  if (request.method !== "POST" || key === undefined) {
    request.resume();
    response.writeHead(404).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    if (key === "dead") return;
    const { id, method }: { id: number; method: string } = JSON.parse(Buffer.concat(chunks).toString());
    const result =
      method === "server/discover"
        ? DISCOVERED
        : { resultType: "complete", tools: [TOOL], ttlMs: 0, cacheScope: "private" };
    const body = JSON.stringify({ jsonrpc: "2.0", id, result });
    const answer = (): void => {
      response.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
      response.end(body);
    };
    if (key !== "slow" || !isSlow) return answer();
    isSlow = false;
    setTimeout(answer, SLOW_MS);
  });
});
tellCpu();
process.send?.(await listenOnLoopback(server));
