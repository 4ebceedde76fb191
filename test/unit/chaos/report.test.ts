import { describe, expect, it } from "vitest";
import { readOptions } from "../../chaos/options.js";
import { report } from "../../chaos/report.js";
import type { Kill, RoundResult, Violation } from "../../chaos/run-round.js";

const TALLY = { commits: 9, rollbacks: 1, snapshots: 2, publications: 3, withdrawals: 2, events: 5, logins: 2 };

function result(violations: readonly Violation[] = []): RoundResult {
  const kills: readonly Kill[] = [
    {
      number: 1,
      place: "plan",
      nth: 2,
      isInsideWrite: true,
      ending: { by: "point", point: "plan", nth: 2, from: "start" },
    },
    { number: 2, place: "time", nth: 0, isInsideWrite: false, ending: { by: "time", ms: 5 } },
  ];
  return { kills, violations, convergences: 3, tally: TALLY };
}

describe("the report of the kills", () => {
  it("R-10: ends with the line that scripts read", () => {
    const text = report(71, [result(), result()]);
    expect(text.split("\n").at(-1)).toBe("chaos: 4 kills, 2 inside a write, 0 violations, seed 71");
    expect(text).toMatch(/^plan +2 +2$/m);
    expect(text).toMatch(/^time +2 +0$/m);
    expect(text).toContain("converged 6 times after a start, 4 logins, 4 snapshots taken in, 18 transactions");
  });

  it("says of a violation what it is, after which kill, and how to see it again", () => {
    const text = report(71, [result([{ check: "rows", says: "half", round: 7, kill: 38 }])]);
    expect(text).toContain("VIOLATION of rows, seed 71, kill 38: half\n  again: npm run chaos -- --seed 71 --round 7");
    expect(text).toContain("1 violations, seed 71");
  });
});

describe("what the command is asked for", () => {
  it("is 200 kills with any seed, or what it says", () => {
    expect(readOptions([], {}, 5)).toEqual({ kills: 200, seed: 5, round: undefined, json: undefined, sabotage: null });
    const args = ["--kills", "20", "--seed", "0", "--round", "3", "--json", "f"];
    const asked = { kills: 20, seed: 0, round: 3, json: "f", sabotage: "no_fences" };
    expect(readOptions(args, { CHAOS_SABOTAGE: "no_fences" }, 5)).toEqual(asked);
  });

  it.each([
    [["--kills", "0"], {}],
    [["--kills", "many"], {}],
    [["--seed", "-1"], {}],
    [["--sed", "1"], {}],
    [[], { CHAOS_SABOTAGE: "no" }],
  ])("is refused when it can't be understood: %j %j", (args, environment) => {
    expect(() => readOptions(args, environment, 5)).toThrow();
  });
});
