import { describe, expect, it } from "vitest";
import { resolveReconcileLimits } from "../../../src/reconcile/limits.js";

describe("resolveReconcileLimits", () => {
  it("R-3, R-4, R-8: has the defaults of the design", () => {
    expect(resolveReconcileLimits()).toEqual({
      maxWorking: 8,
      maxNeeded: 4,
      maxWaiting: 64,
      yieldAfterMs: 2_000,
      runTimeoutMs: 120_000,
      abandonAfterMs: 3_000,
      firstBackoffMs: 1_000,
      maxBackoffMs: 60_000,
      failureBudget: 6,
      healthyAfterMs: 60_000,
      probeIntervalMs: 300_000,
      resyncIntervalMs: 300_000,
      maxKeptEvents: 10_000,
      keepEventsMs: 3_600_000,
    });
  });

  it("takes what is given", () => {
    expect(resolveReconcileLimits({ maxWaiting: 0, maxWorking: 1 })).toMatchObject({ maxWaiting: 0, maxWorking: 1 });
  });

  it("refuses what is out of range or misspelt", () => {
    expect(() => resolveReconcileLimits({ maxWorking: 0 })).toThrow(
      expect.objectContaining({ code: "invalid_options" }),
    );
    const misspelt = { maxworking: 3, maxWaiting: 1 };
    expect(() => resolveReconcileLimits(misspelt)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ suggestion: "maxWorking" }) }),
    );
  });
});
