import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventGap } from "../../../src/reconcile/event-history.js";
import { EventLog, type ReconcileEvent } from "../../../src/reconcile/events.js";
import { FakeClock } from "../../support/fake-clock.js";

const SEED = 20_260_729;

type Step =
  | { readonly kind: "emit"; readonly times: number }
  | { readonly kind: "read"; readonly times: number }
  /** Negative: the clock is set back. */
  | { readonly kind: "pass"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("emit"), times: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ kind: fc.constant("read"), times: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ kind: fc.constant("pass"), ms: fc.constantFrom(1, 400, 1_000, 1_001, -700) }),
);

describe("A reader of events, whatever happens", () => {
  it("R-8: hears each event once and in order, or of a gap that covers exactly what it missed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 10 }),
        async (steps, maxKeptEvents) => {
          const clock = new FakeClock();
          const log = new EventLog(clock, { maxKeptEvents, keepEventsMs: 1_000 });
          const reader = log.follow();
          const heard: (ReconcileEvent | EventGap)[] = [];
          for (const each of steps) {
            if (each.kind === "pass") clock.step(each.ms);
            for (let i = 0; each.kind === "emit" && i < each.times; i += 1) {
              log.emit({ kind: "removed", scope: "s", key: String(log.lastSeq + 1) });
            }
            const place = (): number => heard.at(-1)?.seq ?? 0;
            for (let i = 0; each.kind === "read" && i < each.times && place() < log.lastSeq; i += 1) {
              const missed = log.lastSeq - place() > maxKeptEvents;
              const { value } = await reader.next();
              if (value === undefined) throw new Error("the reader has ended");
              // By count alone a gap is certain; by age it may be one too.
              if (missed) expect(value.kind).toBe("gap");
              heard.push(value);
            }
            expect(log.kept).toBeLessThanOrEqual(maxKeptEvents);
          }
          let last = 0;
          for (const each of heard) {
            if (each.kind === "gap") {
              expect(each.after).toBe(last);
              expect(each.seq).toBeGreaterThan(last);
            } else {
              expect(each.seq).toBe(last + 1);
              expect(each).toMatchObject({ key: String(each.seq) });
            }
            last = each.seq;
          }
        },
      ),
      { seed: SEED, numRuns: 300 },
    );
  });
});
