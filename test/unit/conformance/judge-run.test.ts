import { describe, expect, it } from "vitest";
import { type Check, judgeRun, type ScenarioRun } from "../../conformance/judge-run.js";

const SUCCESS: Check = { id: "a", name: "A", status: "SUCCESS" };

function judge(run: Partial<ScenarioRun>): readonly string[] {
  return judgeRun({ scenario: "tools_call", harnessExit: 0, clientExit: 0, checks: [SUCCESS], ...run });
}

function check(status: string, name = "B"): Check {
  return { id: "b", name, status };
}

describe("the strict rule", () => {
  it("is a success at least, and nothing against it", () => {
    expect(judge({})).toEqual([]);
    expect(judge({ checks: [SUCCESS, check("INFO")] })).toEqual([]);
  });

  it.each<[string, Partial<ScenarioRun>]>([
    ["a client that fails", { clientExit: 1 }],
    ["a client that had to be ended", { clientExit: undefined }],
    ["a harness that fails", { harnessExit: 1 }],
    ["a harness that was ended", { harnessExit: null }],
    ["no checks", { checks: [] }],
    ["no success", { checks: [check("INFO")] }],
    ["a failure", { checks: [SUCCESS, check("FAILURE")] }],
    ["a warning", { checks: [SUCCESS, check("WARNING")] }],
    ["a skipped check", { checks: [SUCCESS, check("SKIPPED")] }],
    ["a status that nobody knows", { checks: [SUCCESS, check("PASS")] }],
    [
      "the name of an allowed skip elsewhere",
      { checks: [SUCCESS, check("SKIPPED", "ClientMcpMethodHeader_initialize")] },
    ],
    [
      "another skip in the scenario that has allowed ones",
      { scenario: "http-standard-headers", checks: [SUCCESS, check("SKIPPED", "ClientMcpMethodHeader_tools_list")] },
    ],
  ])("is not met with %s", (_, run) => expect(judge(run)).toHaveLength(1));

  it("allows two skips in one scenario, which are no success", () => {
    const skips = [
      check("SKIPPED", "ClientMcpMethodHeader_initialize"),
      check("SKIPPED", "ClientMcpMethodHeader_notifications_initialized"),
    ];
    expect(judge({ scenario: "http-standard-headers", checks: [SUCCESS, ...skips] })).toEqual([]);
    expect(judge({ scenario: "http-standard-headers", checks: skips })).toEqual(["no check succeeded"]);
  });
});
