import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, it, vi } from "vitest";
import { Gate, likeModernServer, ScriptedServer } from "../../../src/testing/index.js";

const opened: { close(): Promise<void> | void }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

/** Starts the example, built. */
function start(...args: readonly string[]) {
  const child = spawn(process.execPath, ["build/examples/journal.js", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const ended = once(child, "close");
  opened.push({
    async close() {
      child.kill("SIGKILL");
      await ended;
    },
  });
  return { lines, ended, kill: () => child.kill("SIGKILL") };
}

it("H-35: the example of the journal says what its killed predecessor did not live to see, and shows its own call", async () => {
  const held = new Gate();
  let calls = 0;
  const server = await ScriptedServer.start(
    likeModernServer({
      tools: [
        {
          name: "work",
          async run() {
            calls += 1;
            if (calls === 1) await held.opened;
            return { content: [] };
          },
        },
      ],
    }),
  );
  const directory = await mkdtemp(join(tmpdir(), "journal-example-"));
  opened.push({ close: () => rm(directory, { recursive: true, force: true }) }, server, { close: () => held.open() });

  const first = start(directory, server.url);
  await vi.waitFor(() => expect(calls).toBe(1), { timeout: 20_000 });
  first.kill();
  await first.ended;
  expect(first.lines).toEqual(["calling"]);

  const second = start(directory, server.url);
  await second.ended;
  const body = '{"job":1,"password":"[redacted]"}';
  expect(second.lines).toEqual([
    `unknown server_work ${body}`,
    "calling",
    expect.stringMatching(/^server_work ended answered \{"job":1,"password":"\[redacted\]"\} \d+$/),
    `server_work ended unknown ${body} undefined`,
  ]);
  expect(calls).toBe(2);
});

it("the page of the journal shows the example as it runs", async () => {
  const source = await readFile("examples/journal.ts", "utf8");
  expect(await readFile("docs/journal.md", "utf8")).toContain(`\`\`\`ts\n${source}\`\`\``);
});
