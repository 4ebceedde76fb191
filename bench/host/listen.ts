import { once } from "node:events";
import type { Server } from "node:http";

/** Has a server listen on a free port of this machine; its origin. */
export async function listenOnLoopback(server: Server): Promise<string> {
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${String(typeof address === "object" && address !== null ? address.port : 0)}`;
}
