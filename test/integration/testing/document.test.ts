import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../architecture/source-tree.js";

const execute = promisify(execFile);
const page = readFileSync(join(ROOT, "docs/testing.md"), "utf8");
const examples = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code ?? "");

describe("docs/testing.md", () => {
  // The examples import the built package by its name, as a user's would; none needs types to be taken out of it.
  it.each([
    [0, "peer_error answered\n"],
    [1, "cut\n"],
    [2, /^http:\/\/127\.0\.0\.1:\d+\/mcp 0\n$/],
    [3, "true 2\nfalse\n"],
    [4, '401 Bearer error="invalid_token" 1\n'],
  ])("example %i does what it says", async (index, output) => {
    expect(examples).toHaveLength(5);
    const args = ["--input-type=module", "--eval", examples[index] ?? ""];
    const { stdout, stderr } = await execute(process.execPath, args, { cwd: ROOT });
    expect(stdout).toMatch(output);
    expect(stderr).toBe("");
  });
});
