import { describe, expect, it } from "vitest";
import { CallWatch, OpenWaits } from "../../../src/modern-client/call-watch.js";
import type { OurTime } from "../../../src/protocol/input/index.js";
import { Lifetimes } from "../../../src/transport/index.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

const NEVER = new Promise<void>(() => undefined);

function scene() {
  const clock = new FakeClock();
  const lifetimes = new Lifetimes(clock);
  const deadlines = { connectTimeoutMs: 1, idleTimeoutMs: 1, totalTimeoutMs: 100 };
  const watch = new CallWatch({ clock, lifetimes, waits: new OpenWaits() }, deadlines, undefined);
  const told: string[] = [];
  const wait = (begin: (signal: AbortSignal, ours: OurTime) => Promise<unknown>, untimed = true): void => {
    const tell = (what: string) => () => void told.push(what);
    watch.wait(
      {
        begin,
        onValue: tell("value"),
        onError: tell("error"),
        onAbort: tell("abort"),
        onDeadline: tell("deadline"),
        onClosed: tell("closed"),
      },
      { untimed },
    );
  };
  return { clock, watch, told, wait, lifetimes };
}

const pause = (clock: FakeClock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.schedule(ms, resolve));

describe("W-33: whose time it is", () => {
  it("a person's counts against nothing, what we do in between does", async () => {
    const { clock, watch, told, wait } = scene();
    wait(async (_signal, ours) => {
      await pause(clock, 1_000);
      await ours(() => pause(clock, 30));
      await pause(clock, 1_000);
      await ours(() => Promise.all([pause(clock, 20), pause(clock, 10)]));
    });
    await clock.advance(2_050);
    expect(told).toEqual(["value"]);
    expect(watch.timeLeft()).toBe(50);
  });

  it("what is ours is held to what is left of the deadline", async () => {
    const { clock, watch, told, wait, lifetimes } = scene();
    let gaveUp = false;
    wait(async (signal, ours) => {
      signal.addEventListener("abort", () => (gaveUp = true));
      await pause(clock, 1_000);
      await ours(() => NEVER);
    });
    await clock.advance(1_099);
    expect(told).toEqual([]);
    await clock.advance(2);
    expect([told, gaveUp, lifetimes.size, watch.isOver]).toEqual([["deadline"], true, 0, true]);
  });

  it("a failure of ours ends our time, and the person's goes on", async () => {
    const { clock, told, wait } = scene();
    wait(async (_signal, ours) => {
      await ours(() => Promise.reject(new Error("no"))).catch(() => undefined);
      await pause(clock, 1_000);
    });
    await clock.advance(1_000);
    await settle();
    expect(told).toEqual(["value"]);
  });

  it("where nobody is asked all of the time is ours", async () => {
    const { clock, told, wait } = scene();
    wait((_signal, ours) => ours(() => NEVER), false);
    await clock.advance(101);
    expect(told).toEqual(["deadline"]);
  });
});
