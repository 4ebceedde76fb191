import { describe, expect, it } from "vitest";
import { CallTime } from "../../../../src/legacy-client/http/call-time.js";
import { NOTHING_SENT } from "../../../../src/transport/index.js";
import { FakeClock } from "../../../support/fake-clock.js";

const LIMITS = { connectTimeoutMs: 10, idleTimeoutMs: 20, totalTimeoutMs: 100 };

describe("CallTime", () => {
  it("F-7: gives the first exchange all, and later ones what is left", async () => {
    const clock = new FakeClock();
    const time = new CallTime(clock, { limits: LIMITS, totalOption: "totalTimeoutMs" });
    expect(time.left()).toBe(LIMITS);
    await clock.advance(40);
    expect(time.left()).toEqual({ ...LIMITS, totalTimeoutMs: 60 });
    expect([time.outlasts(59), time.outlasts(60)]).toEqual([true, false]);
    await clock.advance(60);
    expect(time.left()).toBeUndefined();
  });

  it("F-7: names the whole deadline and its option, not what was left", () => {
    const limits = { ...LIMITS, totalTimeoutMs: 5 };
    const time = new CallTime(new FakeClock(), { limits, totalTimeoutMs: 100, totalOption: "lifecycleTimeoutMs" });
    const { delivery, details } = time.passed("unknown", NOTHING_SENT);
    expect([delivery, details]).toMatchObject(["unknown", { option: "lifecycleTimeoutMs", limitMs: 100 }]);
  });
});
