import { describe, expect, it } from "vitest";
import { backoffMs } from "../../../src/reconcile/backoff.js";

const LIMITS = { firstBackoffMs: 1_000, maxBackoffMs: 60_000 };
const ALMOST_ONE = 1 - 2 ** -53;

describe("backoffMs", () => {
  it.each([
    [1, 999],
    [2, 1_999],
    [3, 3_999],
    [4, 7_999],
    [5, 15_999],
    [6, 31_999],
    [7, 59_999],
    [8, 59_999],
    [5_000, 59_999],
  ])("R-4: is at most %s times doubled from one second to a minute", (attempt, most) => {
    expect(backoffMs(attempt, () => ALMOST_ONE, LIMITS)).toBe(most);
  });

  it("R-4 ★ item 11: has full jitter", () => {
    expect(backoffMs(3, () => 0, LIMITS)).toBe(0);
    expect(backoffMs(3, () => 0.5, LIMITS)).toBe(2_000);
  });

  it("takes anything below the first attempt for the first", () => {
    expect(backoffMs(0, () => 0.5, LIMITS)).toBe(500);
  });
});
