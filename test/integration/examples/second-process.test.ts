import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";

let directory: string;
const running: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "second-process-"));
});

afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await rm(directory, { recursive: true, force: true });
});

/** Starts the example, built, and answers the first line that it says. */
async function start(): Promise<{ readonly child: ChildProcess; readonly line: string }> {
  const args = ["build/examples/second-process.js", directory, "http://127.0.0.1:9"];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  running.push(child);
  const lines = createInterface({ input: child.stdout });
  const [line]: unknown[] = await once(lines, "line");
  return { child, line: String(line) };
}

it("R-5: the example owns the state directory, or talks to the process that does", async () => {
  const first = await start();
  expect(first.line).toBe(`owner ${String(first.child.pid)}`);
  const second = await start();
  expect(second.line).toBe(`guest of ${String(first.child.pid)} []`);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const third = await start();
  expect(third.line).toBe(`owner ${String(third.child.pid)}`);
  third.child.stdin?.end();
  const [code]: unknown[] = await once(third.child, "exit");
  expect(code).toBe(0);
});

it("the page of the store shows the example as it runs", async () => {
  const source = await readFile("examples/second-process.ts", "utf8");
  expect(await readFile("docs/store.md", "utf8")).toContain(`\`\`\`ts\n${source}\`\`\``);
});
