import { fork } from "node:child_process";
import { once } from "node:events";

/** Starts the loopback server; its address, and its end. */
export async function startLoopbackServer(): Promise<{ readonly url: string; stop(): void }> {
  const child = fork(new URL("./loopback-server.js", import.meta.url), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [port]: unknown[] = await once(child, "message");
  return { url: `http://127.0.0.1:${String(port)}/mcp`, stop: () => child.disconnect() };
}
