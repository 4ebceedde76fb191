import { getEventListeners } from "node:events";
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

  it("F-7: waiting for its turn, a request has only its total deadline", async () => {
    const clock = new FakeClock();
    const owner = new Ended();
    new Lifetimes(clock).open(owner, limits);
    await clock.advance(999);
    expect(owner.seen).toEqual([]);
    await clock.advance(2);
    expect(owner.seen).toEqual([["total", 1_000]]);
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
