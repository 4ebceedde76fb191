import { describe, expect, it } from "vitest";
import { listedFor, parseBaseline, readBaseline } from "../../conformance/baseline.js";
import { serverScenarioOf } from "../../conformance/run-harness.js";
import { serverScenarios } from "../../conformance/scenarios.js";

const ENTRY = "- {leg: through, revision: 2026-07-28, scenario: ping, reason: later, checks: [a, b]}\n";

describe("the baseline of server scenarios", () => {
  it("is found by leg, revision and scenario together", () => {
    const baseline = parseBaseline(ENTRY);
    expect(listedFor(baseline, "through", "2026-07-28", "ping")).toEqual(["a", "b"]);
    expect(listedFor(baseline, "generic", "2026-07-28", "ping")).toEqual([]);
    expect(listedFor(baseline, "through", "2025-11-25", "ping")).toEqual([]);
    expect(listedFor(baseline, "through", "2026-07-28", "tools-list")).toEqual([]);
    expect(parseBaseline("# nothing\n")).toEqual([]);
  });

  it.each([
    ["another leg", ENTRY.replace("through", "direct")],
    ["a scenario twice", ENTRY + ENTRY],
    ["no checks", ENTRY.replace("[a, b]", "[]")],
    ["no reason", ENTRY.replace("later", '""')],
  ])("is refused with %s", (_, text) => expect(() => parseBaseline(text)).toThrow());

  it("that is committed names only scenarios that are run", () => {
    for (const { revision, scenario } of readBaseline()) expect(serverScenarios(revision)).toContain(scenario);
  });
});

describe("the folder of a server scenario", () => {
  it("names the scenario, whatever hyphens that has", () => {
    const stamp = "2026-12-01T05-12-50-878Z";
    expect(serverScenarioOf(`results/server-server-sse-polling-${stamp}`)).toBe("server-sse-polling");
    expect(serverScenarioOf(`server-sep-2164-resource-not-found-${stamp}`)).toBe("sep-2164-resource-not-found");
    expect(serverScenarioOf(`tools_call-${stamp}`)).toBeUndefined();
  });
});
