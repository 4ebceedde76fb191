import { describe, expect, it } from "vitest";
import { Turn } from "../../../src/reconcile/turn.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

describe("Turn", () => {
  const { signal } = new AbortController();

  it("lets nobody wait as long as it was short", async () => {
    const clock = new FakeClock();
    const turn = new Turn(clock);
    clock.step(9);
    await turn.yield(signal);
    expect(clock.pending).toBe(0);
  });

  it.each([10, 11, -1])("gives the others their turn after %s ms, and begins anew", async (heldMs) => {
    const clock = new FakeClock();
    const turn = new Turn(clock);
    clock.step(heldMs);
    let resumed = false;
    const yielded = turn.yield(signal).then(() => {
      resumed = true;
    });
    await settle();
    expect(resumed).toBe(false);
    expect(clock.dueInMs).toBe(0);
    await clock.advance(0);
    await yielded;
    clock.step(9);
    await turn.yield(signal);
    expect(clock.pending).toBe(0);
  });

  it("goes on at once when it is told to end", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const turn = new Turn(clock);
    clock.step(10);
    const yielded = turn.yield(controller.signal);
    controller.abort();
    await yielded;
    expect(clock.pending).toBe(0);
    clock.step(10);
    await turn.yield(controller.signal);
    expect(clock.pending).toBe(0);
  });
});
