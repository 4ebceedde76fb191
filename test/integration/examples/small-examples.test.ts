import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";
import {
  answerResult,
  likeLegacyServer,
  likeModernServer,
  resetAt,
  ScriptedServer,
  withFaults,
} from "../../../src/testing/index.js";
import type { ScriptedTool } from "../../../src/testing/index.js";

const open: ScriptedServer[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function serve(...tools: ScriptedTool[]): Promise<string> {
  const server = await ScriptedServer.start(likeModernServer({ tools }));
  open.push(server);
  return server.url;
}

/** The lines that an example, built, writes about the server at `url`, or about one that is a command. */
async function run(example: string, ...args: readonly string[]): Promise<string[]> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [`build/examples/${example}.js`, ...args]);
  expect(stderr).toBe("");
  return stdout.trimEnd().split("\n");
}

const text = (words: string): object => ({ content: [{ type: "text", text: words }] });

it("W-33: the example of elicitation answers what the server asks, and has its result", async () => {
  const requestedSchema = { type: "object", properties: { nights: { type: "integer" } } };
  const nights = { method: "elicitation/create", params: { message: "How many nights?", requestedSchema } };
  const asks = { resultType: "input_required", inputRequests: { nights }, requestState: "s" };
  const url = await serve({
    name: "book",
    run: (_, { params }) =>
      params["requestState"] === "s" ? { ...text(JSON.stringify(params["inputResponses"])) } : asks,
  });
  expect(await run("elicitation", url)).toEqual([
    "127.0.0.1 asks: How many nights?",
    JSON.stringify([{ type: "text", text: '{"nights":{"action":"accept","content":{"nights":3}}}' }]),
  ]);
});

it("F-1, F-2, F-4: the example of verdicts tells what may have happened, and what to do", async () => {
  const cut = (): ReturnType<typeof answerResult> => withFaults(answerResult(text("")), resetAt(10));
  const url = await serve(
    { name: "well", run: () => ({ ...text("") }) },
    { name: "writes", run: cut },
    { name: "reads", annotations: { readOnlyHint: true }, run: cut },
    { name: "hangs", run: () => new Promise(() => undefined) },
  );
  expect(await run("delivery-verdict", url)).toEqual([
    "well done",
    'writes connection_broken unknown {"kind":"ask"}',
    'reads connection_broken unknown {"kind":"now"}',
    'hangs aborted unknown {"kind":"never"}',
  ]);
});

it("F-20: the example with a fetch of one's own makes every request with it", async () => {
  expect(await run("own-fetch", await serve({ name: "a" }, { name: "b" }))).toEqual(["POST /mcp 200", "a, b"]);
});

it.each(["elicitation", "delivery-verdict", "own-fetch", "resume-task", "subscription"])(
  "the guide shows the example %s as it runs",
  async (example) => {
    const source = await readFile(`examples/${example}.ts`, "utf8");
    expect(await readFile("docs/modern-client.md", "utf8")).toContain(`\`\`\`ts\n${source}\`\`\``);
  },
);

it("L-19, L-22: the example for servers of any era probes an old one once, over HTTP and as a program", async () => {
  const server = await ScriptedServer.start(likeLegacyServer({ tools: [{ name: "echo" }], revision: "2025-06-18" }));
  open.push(server);
  expect(await run("any-era", server.url)).toEqual(["first legacy 2025-06-18 echo", "second legacy 2025-06-18 echo"]);
  expect(server.requests.filter(({ method }) => method === "server/discover")).toHaveLength(1);
  const modern = await serve({ name: "echo" });
  expect(await run("any-era", modern)).toEqual(["first modern 2026-07-28 echo", "second modern 2026-07-28 echo"]);
  const program = [process.execPath, "build/test/programs/scripted-stdio-server.js", '{"revision":"2025-03-26"}'];
  const lines = await run("any-era", ...program);
  expect(lines.map((line) => line.split(" ").slice(0, 3))).toEqual([
    ["first", "legacy", "2025-03-26"],
    ["second", "legacy", "2025-03-26"],
  ]);
});

it("H-19, H-8: the example of a naming policy of one's own lists and calls two servers' tools by its names", async () => {
  const greet = (words: string): ScriptedTool => ({
    name: "greet",
    run: ({ name }) => ({ ...text(`${words}, ${String(name)}!`) }),
  });
  const urls = [await serve(greet("Hello")), await serve(greet("Goodbye"))];
  expect(await run("custom-naming", ...urls)).toEqual([
    "A.greet",
    "B.greet",
    JSON.stringify([{ type: "text", text: "Hello, Ada!" }]),
  ]);
});
