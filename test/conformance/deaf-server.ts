import { once } from "node:events";
import { createServer } from "node:http";

/** A server that knows nothing, and so must pass nothing: a check of the check. */
export async function startDeafServer(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://localhost:${String(port)}/mcp`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
