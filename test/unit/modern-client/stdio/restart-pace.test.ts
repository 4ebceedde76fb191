import { describe, expect, it } from "vitest";
import { restartDelayMs, wasStable } from "../../../../src/modern-client/stdio/restart-pace.js";

const config = {
  restart: "on_request",
  firstRestartDelayMs: 100,
  longestRestartDelayMs: 1_000,
  random: () => 1,
} as const;

describe("W-40: the pace of restarts", () => {
  it.each([
    [0, 0],
    [1, 100],
    [2, 200],
    [4, 800],
    [5, 1_000],
    [10_000, 1_000],
  ])("after %i early ends: %i ms", (failures, delayMs) => {
    expect(restartDelayMs(failures, config)).toBe(delayMs);
  });

  it("half of a pause is random", () => {
    expect(restartDelayMs(2, { ...config, random: () => 0 })).toBe(100);
  });

  it("a process that served for the longest pause counts as one that works", () => {
    expect([999, 1_000].map((ms) => wasStable(ms, config))).toEqual([false, true]);
  });
});
