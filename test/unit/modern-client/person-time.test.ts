import { describe, expect, it } from "vitest";
import { PersonTime } from "../../../src/modern-client/person-time.js";
import { Lifetimes } from "../../../src/transport/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

/** A wait that began now, what was excused of it, and how often its deadline passed. */
function open(limitMs = 100) {
  const clock = new FakeClock();
  const lifetimes = new Lifetimes(clock);
  const seen = { excused: 0, passed: 0 };
  const time = new PersonTime({
    now: () => clock.now(),
    excuse: (ms) => void (seen.excused += ms),
    watch: () =>
      lifetimes.open(
        { onDeadline: () => void (seen.passed += 1), onAbort: () => undefined },
        { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: limitMs },
      ),
  });
  const work = () => {
    let finish = (): void => undefined;
    const over = time.ours(() => new Promise<void>((resolve) => (finish = resolve)));
    return { over, finish: () => finish() };
  };
  return { clock, lifetimes, seen, time, work };
}

describe("PersonTime", () => {
  it("W-33: two works of ours at once are one stretch of ours, under one deadline", async () => {
    const { clock, lifetimes, seen, work, time } = open();
    clock.step(40);
    const [first, second] = [work(), work()];
    expect([seen.excused, lifetimes.size]).toEqual([40, 1]);
    clock.step(50);
    first.finish();
    await first.over;
    // The other still works: the time goes on being ours.
    expect(lifetimes.size).toBe(1);
    clock.step(60);
    second.finish();
    await second.over;
    expect([lifetimes.size, clock.pending]).toEqual([0, 0]);
    clock.step(1_000);
    time.stop();
    expect(seen).toEqual({ excused: 1_040, passed: 1 });
  });

  it("W-33, F-8: work that fails gives the time back, and what ends after the wait opens and excuses nothing", async () => {
    const { clock, lifetimes, seen, time, work } = open();
    await expect(time.ours(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(lifetimes.size).toBe(0);
    const late = work();
    clock.step(10);
    time.stop();
    expect(lifetimes.size).toBe(0);
    late.finish();
    work();
    await settle();
    clock.step(500);
    time.stop();
    expect([seen, lifetimes.size]).toEqual([{ excused: 0, passed: 0 }, 0]);
  });
});
