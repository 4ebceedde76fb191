import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/transport/clock.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const DAY_MS = 86_400_000;

it("F-9: a delay longer than Node's longest timer neither fires early nor is forgotten", () => {
  let fired = 0;
  systemClock.schedule(60 * DAY_MS, () => (fired += 1));
  const cancel = systemClock.schedule(60 * DAY_MS, () => (fired += 10));
  const never = systemClock.schedule(Infinity, () => (fired += 100));
  vi.advanceTimersByTime(59 * DAY_MS);
  expect(fired).toBe(0);
  cancel();
  vi.advanceTimersByTime(2 * DAY_MS);
  expect(fired).toBe(1);
  never();
  expect(vi.getTimerCount()).toBe(0);
});
