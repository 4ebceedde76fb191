import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export type HttpServing = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Serves on a free port of this machine, prints the URL on a line, and ends the process when stdin ends. */
export async function serveOnFreePort(serve: HttpServing, path: string): Promise<void> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      console.error(error);
      response.destroy();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  console.log(`http://127.0.0.1:${String(port)}${path}`);
  process.stdin.resume().on("end", () => process.exit(0));
}
