import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { joinSignals } from "../../../../src/connector-host/aggregation/join-signals.js";
import { within } from "../../../../src/connector-host/aggregation/within.js";
import { FakeClock } from "../../../support/fake-clock.js";

describe("joinSignals", () => {
  it("fires with the first that fires, and its reason", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const joined = joinSignals(a.signal, b.signal);
    b.abort(0);
    a.abort("late");
    expect(joined.signal.reason).toBe(0);
  });

  it("is aborted at once when one was", () => {
    expect(joinSignals(new AbortController().signal, AbortSignal.abort("before")).signal.reason).toBe("before");
  });

  it("F-8: leaves no listener on a signal that lives on", () => {
    const { signal } = new AbortController();
    const joined = Array.from({ length: 5 }, () => joinSignals(signal, new AbortController().signal));
    expect(getEventListeners(signal, "abort")).toHaveLength(5);
    for (const one of joined) one.release();
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("within", () => {
  function set(promise: Promise<string>) {
    const clock = new FakeClock();
    const controller = new AbortController();
    const budget = { clock, limitMs: 100, option: "listBudgetMs", signal: controller.signal };
    return { clock, controller, waiting: within(promise, budget) };
  }

  const nothingLeft = ({ clock, controller }: ReturnType<typeof set>): void => {
    expect(clock.pending).toBe(0);
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  };

  it("H-24: hands on what comes in time, and a failure as it is", async () => {
    const good = set(Promise.resolve("x"));
    await expect(good.waiting).resolves.toBe("x");
    nothingLeft(good);
    const bad = set(Promise.reject(new Error("down")));
    await expect(bad.waiting).rejects.toThrow("down");
    nothingLeft(bad);
  });

  it("H-24: gives up at the budget, and names it", async () => {
    const late = set(new Promise(() => undefined));
    const outcome = expect(late.waiting).rejects.toMatchObject({
      code: "timeout",
      details: { option: "listBudgetMs", limitMs: 100 },
    });
    await late.clock.advance(100);
    await outcome;
    nothingLeft(late);
  });

  it("H-24: gives up with the signal's own reason", async () => {
    const aborted = set(new Promise(() => undefined));
    aborted.controller.abort("gone");
    await expect(aborted.waiting).rejects.toBe("gone");
    nothingLeft(aborted);
  });
});
