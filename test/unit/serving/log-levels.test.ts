import { describe, expect, it } from "vitest";
import { isLogLevel, reachesLevel } from "../../../src/serving/index.js";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;

describe("H-21: levels of log messages", () => {
  it("are ordered, and each reaches itself and those below", () => {
    const reached = LEVELS.map((least) => LEVELS.filter((level) => reachesLevel(level, least)).length);
    expect(reached).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect(reachesLevel("emergency", "debug")).toBe(true);
    expect(reachesLevel("debug", "emergency")).toBe(false);
  });

  it.each(["", "DEBUG", "loud", undefined, null, 0, ["debug"]])("%j is none, and reaches nobody", (level) => {
    expect([isLogLevel(level), reachesLevel(level, "debug")]).toEqual([false, false]);
  });
});
