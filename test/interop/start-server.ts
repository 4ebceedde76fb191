import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

/** A server that runs as a child process and is reached over HTTP. */
export interface HttpServer {
  readonly url: string;
  /** Resolves when the process is gone. */
  stop(): Promise<void>;
}

const START_MS = 20_000;
const LOOK_MS = 50;

/** Starts a program that prints its URL as its first line. */
export async function startPrinting(args: readonly string[]): Promise<HttpServer> {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const lines = createInterface({ input: child.stdout });
    const [url] = await once(lines, "line", { signal: AbortSignal.timeout(START_MS) });
    return { url: String(url), stop: () => end(child) };
  } catch (error) {
    await end(child);
    throw error;
  }
}

/** Starts a program that takes its port from `PORT`, and waits until it accepts connections. */
export async function startOnPort(args: readonly string[], path: string): Promise<HttpServer> {
  const port = String(await freePort());
  const child = spawn(process.execPath, args, { env: { ...process.env, PORT: port }, stdio: "ignore" });
  const origin = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + START_MS;
  while (!(await accepts(origin))) {
    if (performance.now() < deadline && child.exitCode === null) {
      await pause(LOOK_MS);
      continue;
    }
    await end(child);
    throw new Error("the server does not accept connections");
  }
  return { url: `${origin}${path}`, stop: () => end(child) };
}

async function accepts(origin: string): Promise<boolean> {
  try {
    const answer = await fetch(`${origin}/nothing-here`);
    await answer.arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

/** Another process could take it in between; on a free machine none does. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
