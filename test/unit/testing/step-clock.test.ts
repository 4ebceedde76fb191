import { describe, expect, it } from "vitest";
import { StepClock } from "../../../src/testing/index.js";

describe("F-9 a clock that is stepped", () => {
  it("runs what falls due in the order of its time, and of its scheduling when that is the same", async () => {
    const clock = new StepClock(0);
    const told: string[] = [];
    const tell = (name: string) => () => void told.push(`${name}@${String(clock.now())}`);
    clock.schedule(20, tell("late"));
    clock.schedule(10, tell("first"));
    clock.schedule(10, tell("second"));
    const cancel = clock.schedule(15, tell("cancelled"));
    expect(clock.pending).toBe(4);
    expect(clock.dueInMs).toBe(10);
    cancel();
    await clock.advance(19);
    expect(told).toEqual(["first@10", "second@10"]);
    expect(clock.now()).toBe(19);
    expect(clock.dueInMs).toBe(1);
    clock.step(1);
    expect(told).toEqual(["first@10", "second@10", "late@20"]);
    expect(clock.pending).toBe(0);
    expect(clock.dueInMs).toBe(Infinity);
  });

  it("runs what was scheduled on the way, and lets promises settle in between", async () => {
    const clock = new StepClock(0);
    const told: number[] = [];
    const again = async (): Promise<void> => {
      await Promise.resolve();
      told.push(clock.now());
      if (told.length < 3) clock.schedule(100, () => void again());
    };
    clock.schedule(100, () => void again());
    await clock.advance(250);
    expect(told).toEqual([100, 200]);
    await clock.advance(50);
    expect(told).toEqual([100, 200, 300]);
  });

  it("runs at once, with `advance(0)`, what is due already, also from the past", async () => {
    const clock = new StepClock();
    let runs = 0;
    clock.schedule(-5, () => (runs += 1));
    expect(runs).toBe(0);
    await clock.advance(0);
    expect(runs).toBe(1);
  });
});
