import { describe, expect, it } from "vitest";
import { Alarms } from "../../../src/reconcile/alarms.js";
import { FakeClock } from "../../support/fake-clock.js";

describe("Alarms", () => {
  it("rings once, at its time", async () => {
    const clock = new FakeClock(1_000);
    const alarms = new Alarms(clock);
    const rung: number[] = [];
    alarms.set("a", 1_500, () => rung.push(clock.now()));
    await clock.advance(499);
    expect(rung).toEqual([]);
    await clock.advance(10_000);
    expect(rung).toEqual([1_500]);
    expect(clock.pending).toBe(0);
  });

  it("is moved by setting it again, and taken back", async () => {
    const clock = new FakeClock(0);
    const alarms = new Alarms(clock);
    const rung: string[] = [];
    alarms.set("a", 10, () => rung.push("early"));
    alarms.set("a", 20, () => rung.push("late"));
    alarms.set("b", 10, () => rung.push("never"));
    alarms.cancel("b");
    alarms.cancel("unknown");
    await clock.advance(100);
    expect(rung).toEqual(["late"]);
    alarms.set("a", 200, () => rung.push("never"));
    alarms.set("b", 200, () => rung.push("never"));
    alarms.cancelAll();
    expect(clock.pending).toBe(0);
  });

  it("rings early for a time that is far away, and can be set again while it rings", async () => {
    const clock = new FakeClock(0);
    const alarms = new Alarms(clock);
    const at = 10 * 60 * 60_000;
    const rung: number[] = [];
    const ring = (): void => {
      rung.push(clock.now());
      if (clock.now() < at) alarms.set("a", at, ring);
    };
    alarms.set("a", at, ring);
    await clock.advance(2 * at);
    expect(rung).toHaveLength(10);
    expect(rung.at(-1)).toBe(at);
  });

  it("rings soon for a time that has passed", async () => {
    const clock = new FakeClock(1_000);
    const alarms = new Alarms(clock);
    let rung = false;
    alarms.set("a", 5, () => {
      rung = true;
    });
    expect(rung).toBe(false);
    await clock.advance(0);
    expect(rung).toBe(true);
  });
});
