import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { type Column, COLUMNS } from "../../interop/column.js";
import { type Group, stdio } from "../../interop/group.js";
import { OWN, type Profile } from "../../interop/profile.js";
import { runGroups } from "../../interop/run-groups.js";

const SDK = "build/test/programs/interop-sdk-server.js";

/** The columns of one row that failed with this profile, and those that were not tried. */
async function outcome(profile: Profile, args: readonly string[] = [SDK, "stdio"]): Promise<Record<string, Column[]>> {
  const group: Group = stdio("sdk", "stdio", [{ revision: "2025-03-26", by: "fixed" }], args, profile);
  const [row] = await runGroups([group]);
  if (row === undefined) throw new Error("no row");
  const columns: Record<string, Column[]> = {};
  for (const column of COLUMNS) (columns[row.cells[column].kind] ??= []).push(column);
  return columns;
}

describe("the matrix with the official servers", () => {
  it("L-18, L-19, L-23: passes in its quick form, and leaves nothing running", async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      "build/test/programs/interop-suite.js",
      "--quick",
    ]);
    expect(stderr).toBe("");
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^interop: (\d+) of \1 cells, 8 servers$/);
  }, 90_000);

  it("fails the cells whose expectation is not met, and no others", async () => {
    const wrong: Profile = {
      ...OWN,
      tools: ["nowhere"],
      call: { ...OWN.call, has: "not this" },
      progress: { call: { name: "count", arguments: { to: 2 } }, values: [1, 2, 3] },
      read: { uri: "demo://nowhere", has: "" },
    };
    const { failed, cannot } = await outcome(wrong);
    expect([failed, cannot]).toEqual([["tools", "call", "progress", "read"], ["elicit"]]);
  });

  it("fails a lack that nobody said there would be, and a lack that is none", async () => {
    const wrong: Profile = { ...OWN, cancel: { wait: "no-such-tool", seen: "seen" }, lacks: ["prompts"] };
    expect((await outcome(wrong)).failed).toEqual(["prompts", "cancel"]);
  });

  it("fails all cells of a server that is none", async () => {
    const { failed, ...others } = await outcome(OWN, ["--eval", "0"]);
    expect([failed?.length, others]).toEqual([11, {}]);
  });
});
