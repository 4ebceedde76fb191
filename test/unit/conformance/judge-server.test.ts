import { describe, expect, it } from "vitest";
import type { Check } from "../../conformance/judge-run.js";
import { judgeServer } from "../../conformance/judge-server.js";

function check(id: string, status = "SUCCESS"): Check {
  return { id, name: id.toUpperCase(), status };
}

const WIRE = check("wire-schema-valid");

function judge(checks: readonly Check[], listed?: readonly string[]) {
  const { kind, reasons } = judgeServer("2026-07-28", "tools-list", checks, listed);
  return [kind, reasons.length];
}

describe("the strict rule for servers", () => {
  it("passes what succeeds, with notes beside it", () => {
    expect(judge([check("a"), check("b", "INFO"), WIRE])).toEqual(["passed", 0]);
  });

  it.each(["FAILURE", "WARNING", "SKIPPED", "PASS"])("fails on a check that is %s", (status) => {
    expect(judge([check("a"), check("b", status)])).toEqual(["failed", 1]);
  });

  it("fails where nothing succeeded but what looks at all messages", () => {
    expect(judge([])).toEqual(["failed", 1]);
    expect(judge([WIRE, check("a", "INFO")])).toEqual(["failed", 1]);
  });

  it("lets a listed check fail, and judges the others", () => {
    expect(judge([check("a"), check("b", "FAILURE")], ["b"])).toEqual(["passed", 0]);
    expect(judge([check("a", "WARNING"), check("b", "FAILURE")], ["b"])).toEqual(["failed", 1]);
  });

  it("fails when a listed check succeeds, or is gone", () => {
    expect(judge([check("a"), check("b")], ["b"])).toEqual(["failed", 1]);
    expect(judge([check("a")], ["b"])).toEqual(["failed", 1]);
    expect(judge([check("a"), check("b"), check("b", "FAILURE")], ["b"])).toEqual(["passed", 0]);
  });

  it("counts no scenario of which nothing else is left", () => {
    expect(judge([check("b", "SKIPPED"), WIRE], ["b"])).toEqual(["waits", 0]);
    expect(judge([check("b"), WIRE], ["b"])).toEqual(["failed", 1]);
  });
});
