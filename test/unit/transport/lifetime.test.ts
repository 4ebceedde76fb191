import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Lifetimes, type LifetimeOwner } from "../../../src/transport/lifetime.js";
import { FakeClock } from "../../support/fake-clock.js";

class Ended implements LifetimeOwner {
  readonly seen: unknown[] = [];
  onDeadline(phase: string, limitMs: number): void {
    this.seen.push([phase, limitMs]);
  }
  onAbort(reason: unknown): void {
    this.seen.push(["abort", reason]);
  }
}

const limits = { connectTimeoutMs: 100, idleTimeoutMs: 200, totalTimeoutMs: 1_000 };

describe("Lifetimes", () => {
  it("F-7: each deadline counts in its own phase, and a sign of life restarts only the idle one", async () => {
    const clock = new FakeClock();
    const lifetimes = new Lifetimes(clock);
    const [connect, idle, total] = [new Ended(), new Ended(), new Ended()];
    lifetimes.open(connect, limits).connecting();
    const quiet = lifetimes.open(idle, limits);
    quiet.connecting();
    quiet.established();
    const lively = lifetimes.open(total, limits);
    lively.established();
    for (let ms = 0; ms < 1_000; ms += 50) {
      await clock.advance(50);
      lively.touch();
      if (ms === 50) expect(connect.seen).toEqual([["connect", 100]]);
      if (ms === 100) expect(idle.seen).toEqual([]);
    }
    expect(idle.seen).toEqual([["idle", 200]]);
    expect(total.seen).toEqual([["total", 1_000]]);
    expect(lifetimes.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  it("F-7, L-6: held, silence is no fault; the idle deadline starts anew with the release, the total one goes on", async () => {
    const clock = new FakeClock();
    const lifetimes = new Lifetimes(clock);
    const [idle, total, connect] = [new Ended(), new Ended(), new Ended()];
    const held = lifetimes.open(idle, limits);
    held.established();
    const forever = lifetimes.open(total, limits);
    // Before it is sent, too.
    forever.hold();
    forever.established();
    const waiting = lifetimes.open(connect, limits);
    waiting.hold();
    waiting.connecting();
    await clock.advance(150);
    held.hold();
    expect(connect.seen).toEqual([["connect", 100]]);
    await clock.advance(400);
    expect(idle.seen).toEqual([]);
    held.release();
    held.release();
    await clock.advance(199);
    expect(idle.seen).toEqual([]);
    await clock.advance(1);
    expect(idle.seen).toEqual([["idle", 200]]);
    await clock.advance(1_000);
    expect(total.seen).toEqual([["total", 1_000]]);
    expect(clock.pending).toBe(0);
  });

  it("F-7: waiting for its turn, a request has only its total deadline", async () => {
    const clock = new FakeClock();
    const owner = new Ended();
    new Lifetimes(clock).open(owner, limits);
    await clock.advance(999);
    expect(owner.seen).toEqual([]);
    await clock.advance(2);
    expect(owner.seen).toEqual([["total", 1_000]]);
  });

  it("F-7: a request that waited long for its turn still has its later deadlines", async () => {
    const clock = new FakeClock();
    const lifetimes = new Lifetimes(clock);
    const owner = new Ended();
    const lifetime = lifetimes.open(owner, limits);
    // The timer has fired and was set anew, for the total deadline, before the phases begin.
    await clock.advance(500);
    lifetime.connecting();
    await clock.advance(50);
    lifetime.established();
    await clock.advance(199);
    expect(owner.seen).toEqual([]);
    await clock.advance(1);
    expect(owner.seen).toEqual([["idle", 200]]);
  });

  it("F-7: whatever the order of phases and signs of life, each deadline fires at its own moment", async () => {
    const steps = fc.array(
      fc.record({
        lifetime: fc.nat(3),
        step: fc.constantFrom("connecting", "established", "touch", "close" as const),
        waitMs: fc.nat(120),
      }),
      { maxLength: 30 },
    );
    const property = fc.asyncProperty(steps, async (script) => {
      const clock = new FakeClock(0);
      const lifetimes = new Lifetimes(clock);
      const model = Array.from({ length: 4 }, () => {
        const owner = new Ended();
        return { owner, lifetime: lifetimes.open(owner, limits), phase: "waiting", since: 0, over: false };
      });
      const dueAt = ({ phase, since }: { phase: string; since: number }): number => {
        if (phase === "waiting") return 1_000;
        return Math.min(1_000, since + (phase === "connecting" ? 100 : 200));
      };
      const look = (): void => {
        for (const one of model) {
          if (one.over) continue;
          const due = dueAt(one) <= clock.now();
          expect(one.owner.seen.length, `${one.phase} since ${String(one.since)} at ${String(clock.now())}`).toBe(
            due ? 1 : 0,
          );
          one.over = due;
        }
      };
      for (const { lifetime: index, step, waitMs } of script) {
        const one = model[index];
        if (one === undefined) continue;
        one.lifetime[step]();
        if (step === "close") one.over = true;
        else one.since = clock.now();
        if (step !== "touch" && step !== "close") one.phase = step;
        for (let ms = 0; ms < waitMs; ms += 1) {
          clock.step(1);
          look();
        }
      }
      for (const { lifetime } of model) lifetime.close();
      expect([lifetimes.size, clock.pending]).toEqual([0, 0]);
    });
    await fc.assert(property, { seed: 7, numRuns: 60 });
  });

  it("F-8: one listener per signal however many requests share it, none afterwards, and no timer", () => {
    const clock = new FakeClock();
    const lifetimes = new Lifetimes(clock);
    const { signal } = new AbortController();
    const open = Array.from({ length: 50 }, () => lifetimes.open(new Ended(), { ...limits, signal }));
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    expect(clock.pending).toBe(1);
    for (const lifetime of open) {
      lifetime.close();
      lifetime.close();
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(clock.pending).toBe(0);
  });

  it("F-2: an abort reaches every request of the signal with the caller's own reason, at once and once", async () => {
    const clock = new FakeClock();
    const lifetimes = new Lifetimes(clock);
    const controller = new AbortController();
    const owners = [new Ended(), new Ended()];
    for (const owner of owners) lifetimes.open(owner, { ...limits, signal: controller.signal }).connecting();
    const bystander = new Ended();
    lifetimes.open(bystander, limits);
    controller.abort(0);
    await clock.advance(5_000);
    for (const owner of owners) expect(owner.seen).toEqual([["abort", 0]]);
    expect(bystander.seen).toEqual([["total", 1_000]]);
  });

  it("F-7: Infinity means no deadline and no timer", () => {
    const clock = new FakeClock();
    const none = { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: Infinity };
    new Lifetimes(clock).open(new Ended(), none).established();
    expect(clock.pending).toBe(0);
  });
});
