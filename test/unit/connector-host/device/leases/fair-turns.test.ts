import { getEventListeners } from "node:events";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairTurns } from "../../../../../src/connector-host/device/leases/fair-turns.js";
import { settle } from "../../../../support/fake-clock.js";

const { signal } = new AbortController();

function outcome(taken: Promise<void>): { value: unknown } {
  const seen: { value: unknown } = { value: "waits" };
  taken.then(
    () => (seen.value = "taken"),
    (reason: unknown) => (seen.value = reason),
  );
  return seen;
}

describe("FairTurns", () => {
  it("H-27: who waits too many is refused, and the option is named", async () => {
    const turns = new FairTurns({ turns: 1, maxWaitingLeases: 1 });
    await turns.take(signal);
    const second = outcome(turns.take(signal));
    await expect(turns.take(signal)).rejects.toMatchObject({
      code: "limit_exceeded",
      delivery: "not_sent",
      details: { option: "maxWaitingLeases", limit: 1 },
    });
    turns.give();
    await settle();
    expect(second.value).toBe("taken");
  });

  it("F-2 F-8: the signal ends the waiting with its reason, and no listener is left", async () => {
    const turns = new FairTurns({ turns: 1, maxWaitingLeases: 9 });
    await turns.take(signal);
    const over = new AbortController();
    const waiting = outcome(turns.take(over.signal));
    const reason = { why: "late" };
    over.abort(reason);
    await settle();
    expect([waiting.value, getEventListeners(over.signal, "abort").length]).toEqual([reason, 0]);
    const early = outcome(turns.take(over.signal));
    turns.give();
    // Nobody's turn was lost.
    await turns.take(signal);
    expect(early.value).toBe(reason);
  });

  it("H-40: closing refuses whoever waits, and whoever comes", async () => {
    const turns = new FairTurns({ turns: 1, maxWaitingLeases: 9 });
    await turns.take(signal);
    const waiting = outcome(turns.take(signal));
    turns.close();
    await settle();
    expect(waiting.value).toMatchObject({ code: "cancelled", delivery: "not_sent" });
    await expect(turns.take(signal)).rejects.toMatchObject({ code: "cancelled" });
  });

  it("H-27: never more at once than there are turns, and first come, first served, whatever happens", async () => {
    const actions = fc.array(fc.constantFrom("take", "take", "give", "abort"), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 4 }), actions, async (count, steps) => {
        const turns = new FairTurns({ turns: count, maxWaitingLeases: 1_000 });
        const came: { readonly over: AbortController; readonly seen: { value: unknown } }[] = [];
        /** Who should have a turn, and who should wait, in order. */
        let [holds, waits] = [new Set<number>(), [] as number[]];
        for (const step of steps) {
          if (step === "take") {
            const over = new AbortController();
            const index = came.push({ over, seen: outcome(turns.take(over.signal)) }) - 1;
            if (holds.size < count) holds.add(index);
            else waits.push(index);
          } else if (step === "give" && holds.size > 0) {
            holds = new Set([...holds].slice(1));
            turns.give();
            const next = waits.shift();
            if (next !== undefined) holds.add(next);
          } else if (step === "abort" && waits.length > 0) {
            came[waits.at(-1) ?? 0]?.over.abort("gone");
            waits = waits.slice(0, -1);
          }
          await settle();
          const waiting = came.flatMap(({ seen }, index) => (seen.value === "waits" ? [index] : []));
          expect(waiting).toEqual(waits);
          for (const index of holds) expect(came[index]?.seen.value).toBe("taken");
        }
      }),
      { seed: 20_261_201, numRuns: 60 },
    );
  });
});
