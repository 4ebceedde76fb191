import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyedQueue } from "../../../src/reconcile/keyed-queue.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

const SEED = 20_260_728;
const KEYS = ["a", "b", "c", "d", "e", "f"];
const MAX_WORKING = 3;

type Step =
  | { readonly kind: "add"; readonly key: string; readonly urgent: boolean }
  | { readonly kind: "end"; readonly index: number }
  | { readonly kind: "abort"; readonly key: string }
  | { readonly kind: "advance"; readonly ms: number };

const key = fc.constantFrom(...KEYS);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("add"), key, urgent: fc.nat(4).map((n) => n === 0) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("end"), index: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("abort"), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("advance"), ms: fc.constantFrom(100, 3_000, 123_000) }) },
);

/** A run that has neither ended nor been abandoned. */
interface LiveRun {
  readonly key: string;
  readonly holdsSlot: boolean;
  end(): void;
}

/** The queue, and beside it what it should be doing. */
class Bench {
  readonly clock = new FakeClock();
  readonly live: LiveRun[] = [];
  /** Ordinary keys that are queued, first come first served. */
  readonly expected: string[] = [];
  readonly #urgent = new Set<string>();
  /** Keys that were added while they ran, and whether one of the adds was urgent. */
  readonly #again = new Map<string, boolean>();
  /** Keys that were added and have not begun since. */
  readonly #owed = new Set<string>();
  readonly #queue = new KeyedQueue<string>({
    clock: this.clock,
    limits: {
      maxWorking: MAX_WORKING,
      maxWaiting: 2,
      yieldAfterMs: 2_000,
      runTimeoutMs: 120_000,
      abandonAfterMs: 3_000,
    },
    work: (job, lane) => this.#begin(job, lane.holdsSlot),
    onAbandoned: (job) => this.#over(job),
  });

  async apply(each: Step): Promise<void> {
    if (each.kind === "add") this.#add(each.key, each.urgent);
    else if (each.kind === "end") this.#end(each.index);
    else if (each.kind === "abort") this.#queue.abort(each.key, "newer");
    else await this.clock.advance(each.ms);
    await settle();
    expect(this.live.filter((run) => run.holdsSlot).length).toBeLessThanOrEqual(MAX_WORKING);
    // A slot is never left free while someone waits for one, and what is urgent never waits.
    if (this.expected.length > 0) expect(this.live.filter((run) => run.holdsSlot)).toHaveLength(MAX_WORKING);
    expect([...this.#urgent]).toEqual([]);
  }

  /** Ends everything, and finds nothing owed. */
  async finish(): Promise<void> {
    for (let guard = 0; this.live.length > 0; guard += 1) {
      expect(guard).toBeLessThan(1_000);
      this.#end(0);
      await settle();
    }
    expect([...this.#owed]).toEqual([]);
    expect(this.expected).toEqual([]);
    await this.#queue.whenIdle();
    expect(this.clock.pending).toBe(0);
  }

  #add(id: string, urgent: boolean): void {
    this.#owed.add(id);
    if (this.live.some((run) => run.key === id)) this.#again.set(id, urgent || this.#again.get(id) === true);
    else this.#enqueue(id, urgent);
    this.#queue.add(id, id, urgent);
  }

  #enqueue(id: string, urgent: boolean): void {
    const place = this.expected.indexOf(id);
    if (urgent) {
      if (place !== -1) this.expected.splice(place, 1);
      this.#urgent.add(id);
    } else if (place === -1 && !this.#urgent.has(id)) {
      this.expected.push(id);
    }
  }

  #begin(id: string, holdsSlot: boolean): Promise<void> {
    expect(this.live.map((run) => run.key)).not.toContain(id);
    if (holdsSlot) expect(this.expected.shift()).toBe(id);
    else expect(this.#urgent.delete(id)).toBe(true);
    this.#owed.delete(id);
    return new Promise((end) => this.live.push({ key: id, holdsSlot, end }));
  }

  #end(index: number): void {
    if (this.live.length === 0) return;
    const run = this.live[index % this.live.length];
    if (run === undefined) return;
    this.#over(run.key);
    run.end();
  }

  #over(id: string): void {
    const place = this.live.findIndex((run) => run.key === id);
    this.live.splice(place, 1);
    const urgent = this.#again.get(id);
    if (urgent === undefined) return;
    this.#again.delete(id);
    this.#enqueue(id, urgent);
  }
}

describe("KeyedQueue, whatever happens", () => {
  it("R-3: never runs a key twice at once, loses no add, and serves in order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80, size: "max" }), async (steps) => {
        const bench = new Bench();
        for (const each of steps) await bench.apply(each);
        await bench.finish();
      }),
      { seed: SEED, numRuns: 150 },
    );
  });
});
