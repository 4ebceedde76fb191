import { fork } from "node:child_process";
import { once } from "node:events";

/** A server in a process of its own: where it listens, without a path, and its end. */
export interface ServerProcess {
  readonly origin: string;
  stop(): void;
}

/** Starts a program that sends the port it listens on, and that ends when it is disconnected. */
export async function startServer(program: URL): Promise<ServerProcess> {
  const child = fork(program, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const [port]: unknown[] = await once(child, "message");
  return { origin: `http://127.0.0.1:${String(port)}`, stop: () => child.disconnect() };
}

/** Starts the loopback server; its address, and its end. */
export async function startLoopbackServer(): Promise<{ readonly url: string; stop(): void }> {
  const server = await startServer(new URL("./loopback-server.js", import.meta.url));
  return { url: `${server.origin}/mcp`, stop: () => server.stop() };
}
