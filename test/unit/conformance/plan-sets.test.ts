import { describe, expect, it } from "vitest";
import { planSets, summaryLine } from "../../conformance/plan-sets.js";
import { requiredScenarios, unscoredScenarios } from "../../conformance/scenarios.js";

function shape(what: string, scope: "all" | "auth" | "transport" = "all"): unknown {
  return planSets(what, scope).map(({ counted, revision, scenarios }) => [revision, scenarios.length, counted]);
}

describe("the sets of client scenarios", () => {
  it("are what a revision requires, and nothing else", () => {
    expect(shape("2026-07-28")).toEqual([["2026-07-28", 32, "required"]]);
    expect(shape("2025-11-25")).toEqual([["2025-11-25", 18, "required"]]);
    expect(planSets("2026-07-28", "all")[0]?.scenarios).toEqual(requiredScenarios("2026-07-28"));
  });

  it("are all that there is", () => {
    expect(shape("all")).toEqual([
      ["2025-11-25", 18, "required"],
      ["2025-11-25", 7, "unscored"],
      ["2026-07-28", 32, "required"],
      ["2026-07-28", 7, "unscored"],
      ["2025-03-26", 2, "back-compatible"],
    ]);
  });

  it("are those of a scope, required or not", () => {
    const [required, unscored] = [requiredScenarios("2026-07-28"), unscoredScenarios("2026-07-28")];
    const isAuth = (name: string): boolean => name.startsWith("auth/");
    const all = [...required, ...unscored];
    expect(planSets("2026-07-28", "auth")).toMatchObject([{ counted: "", scenarios: all.filter(isAuth) }]);
    const transport = all.filter((name) => !isAuth(name));
    expect(planSets("2026-07-28", "transport")).toMatchObject([{ counted: "", scenarios: transport }]);
  });

  it.each([
    [undefined, "all"],
    ["2024-11-05", "all"],
    ["2025-03-26", "all"],
    ["all", "auth"],
  ] as const)("are refused for %j of scope %s", (what, scope) => {
    expect(() => planSets(what, scope)).toThrow(/2026-07-28/);
  });

  it("have a line of numbers each", () => {
    const set = { revision: "r", title: "r", counted: "required", scenarios: ["a", "b"] };
    expect(summaryLine(set, 1, 0)).toBe("conformance r: 1 of 2 required, empty client 0 of 2");
    expect(summaryLine({ ...set, title: "r auth", counted: "" }, 2, 1)).toBe(
      "conformance r auth: 2 of 2, empty client 1 of 2",
    );
  });
});
