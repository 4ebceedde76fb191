import { createServer, type IncomingMessage } from "node:http";
import { Agent, request } from "undici";
import { listenOnLoopback } from "./listen.js";

/** The least that a hop can do: takes a message apart and puts it together again, on the way there and on the way back. */
export async function openBareHop(upstream: string): Promise<string> {
  const dispatcher = new Agent();
  const passOn = async (message: { readonly method: string }): Promise<string> => {
    const answer = await request(upstream, {
      method: "POST",
      dispatcher,
      body: JSON.stringify(message),
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": message.method,
        "Mcp-Name": "echo",
      },
    });
    return JSON.stringify(JSON.parse(await answer.body.text()));
  };
  const server = createServer((incoming, response) => {
    void readJson(incoming)
      .then(passOn)
      .then((body) => {
        const length = String(Buffer.byteLength(body));
        response.writeHead(200, { "Content-Type": "application/json", "Content-Length": length }).end(body);
      });
  });
  return `${await listenOnLoopback(server)}/mcp`;
}

function readJson(incoming: IncomingMessage): Promise<{ readonly method: string }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const message: { readonly method: string } = JSON.parse(Buffer.concat(chunks).toString());
      resolve(message);
    });
  });
}
