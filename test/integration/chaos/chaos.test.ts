import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Sabotage } from "../../chaos/orders.js";

const PROGRAM = "build/test/programs/chaos-suite.js";

interface Outcome {
  readonly code: number;
  readonly lastLine: string;
  /** The checks that found something. */
  readonly checks: readonly string[];
}

/** Where everything lies that a run makes. */
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "chaos-test-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs the program that `npm run chaos` runs. */
async function chaos(args: readonly string[], sabotage: Sabotage | "" = ""): Promise<Outcome> {
  const env = { ...process.env, TMPDIR: folder, CHAOS_SABOTAGE: sabotage };
  const running = promisify(execFile)(process.execPath, [PROGRAM, ...args], { env, maxBuffer: 1 << 24 });
  const { code, stdout } = await running.then(
    ({ stdout: text }) => ({ code: 0, stdout: text }),
    (error: { readonly code: number; readonly stdout: string }) => error,
  );
  const checks = Array.from(stdout.matchAll(/^VIOLATION of (\w+)/gm), ([, check = ""]) => check);
  return { code, lastLine: stdout.trimEnd().split("\n").at(-1) ?? "", checks: [...new Set(checks)].sort() };
}

describe("kills of whole hosts", () => {
  it("R-10: lose nothing, and leave nothing behind", async () => {
    const { code, lastLine, checks } = await chaos(["--seed", "1", "--kills", "6"]);
    expect([code, checks]).toEqual([0, []]);
    expect(lastLine).toMatch(/^chaos: 6 kills, \d+ inside a write, 0 violations, seed 1$/);
    expect(await readdir(folder)).toEqual([]);
  }, 60_000);

  it("R-10: with hardly any room on the disk neither", async () => {
    const { code, checks } = await chaos(["--seed", "1", "--round", "3"]);
    expect([code, checks]).toEqual([0, []]);
  }, 60_000);

  const FIRST = ["--seed", "1", "--kills", "3"];

  it.each<[Sabotage, string, run: readonly string[]]>([
    ["drop_rows", "rows", FIRST],
    ["split_commits", "rows", FIRST],
    // What only some scripts come across has a round whose script does.
    ["no_fences", "revocations", ["--seed", "12", "--round", "5"]],
    ["skip_events", "events", FIRST],
    ["old_epochs", "epochs", FIRST],
    ["lose_key", "convergence", ["--seed", "6", "--round", "4"]],
    ["lose_wishes", "catalog", ["--seed", "1", "--kills", "1"]],
    ["open_files", "leftovers", FIRST],
  ])(
    "R-10: are noticed when %s",
    async (sabotage, check, run) => {
      const { code, lastLine, checks } = await chaos(run, sabotage);
      expect(code).toBe(1);
      expect(checks).toContain(check);
      expect(lastLine).not.toContain(" 0 violations");
    },
    60_000,
  );
});
