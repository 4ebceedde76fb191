import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** A program in a process of its own. It says hello once it is ready, and tells its CPU time whenever it is asked. */
export interface Child {
  /** What it said first. */
  readonly hello: unknown;
  /** User and system time so far, in microseconds. */
  cpuUs(): Promise<number>;
  stop(): Promise<void>;
}

export async function startChild(program: URL, args: readonly string[], execArgv: string[] = []): Promise<Child> {
  const child = fork(program, [...args], { execArgv, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const hello = await nextOf(child);
  return {
    hello,
    async cpuUs() {
      child.send("cpu");
      return Number(await nextOf(child));
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

/** Rejects when the program ends instead. */
async function nextOf(child: ChildProcess): Promise<unknown> {
  const given = new AbortController();
  try {
    const message = once(child, "message", { signal: given.signal });
    const end = once(child, "exit", { signal: given.signal }).then(() => {
      throw new Error("a program of the benchmark ended");
    });
    end.catch(() => undefined);
    message.catch(() => undefined);
    const [said]: unknown[] = await Promise.race([message, end]);
    return said;
  } finally {
    given.abort();
  }
}
