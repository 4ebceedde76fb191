import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KeyedQueue, type Priority } from "../../../src/reconcile/keyed-queue.js";
import { FakeClock, settle } from "../../support/fake-clock.js";

const SEED = 20_260_728;
const KEYS = ["a", "b", "c", "d", "e", "f"];
const MAX_WORKING = 2;
const MAX_NEEDED = 1;

type Step =
  | { readonly kind: "add"; readonly key: string; readonly priority: Priority }
  | { readonly kind: "end"; readonly index: number }
  | { readonly kind: "abort"; readonly key: string }
  | { readonly kind: "advance"; readonly ms: number };

const key = fc.constantFrom(...KEYS);
const anyPriority = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Priority>("ordinary") },
  { weight: 1, arbitrary: fc.constantFrom<Priority>("needed", "urgent") },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("add"), key, priority: anyPriority }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("end"), index: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("abort"), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("advance"), ms: fc.constantFrom(100, 3_000, 123_000) }) },
);

/** A run that has neither ended nor been abandoned. */
interface LiveRun {
  readonly key: string;
  /** What it began as: an urgent one has no slot, a needed one has one of its own kind. */
  readonly place: Priority;
  end(): void;
}

/** The queue, and beside it what it should be doing. */
class Bench {
  readonly clock = new FakeClock();
  readonly live: LiveRun[] = [];
  /** Keys that are queued and not urgent, first come first served. */
  readonly expected: string[] = [];
  /** Those of them that are needed, in the order in which they came to be. */
  readonly needed: string[] = [];
  readonly #urgent = new Set<string>();
  /** Keys that were added while they ran, and the most pressing of the adds. */
  readonly #again = new Map<string, Priority>();
  /** Keys that were added and have not begun since. */
  readonly #owed = new Set<string>();
  readonly #queue = new KeyedQueue<string>({
    clock: this.clock,
    limits: {
      maxWorking: MAX_WORKING,
      maxNeeded: MAX_NEEDED,
      maxWaiting: 2,
      yieldAfterMs: 2_000,
      runTimeoutMs: 120_000,
      abandonAfterMs: 3_000,
    },
    work: (job, lane) => this.#begin(job, lane.holdsSlot),
    onAbandoned: (job) => this.#over(job),
  });

  async apply(each: Step): Promise<void> {
    if (each.kind === "add") this.#add(each.key, each.priority);
    else if (each.kind === "end") this.#end(each.index);
    else if (each.kind === "abort") this.#queue.abort(each.key, "newer");
    else await this.clock.advance(each.ms);
    await settle();
    expect(this.#held("ordinary")).toBeLessThanOrEqual(MAX_WORKING);
    expect(this.#held("needed")).toBeLessThanOrEqual(MAX_NEEDED);
    // A slot is never left free while someone waits for one, and what is urgent never waits.
    if (this.expected.length > 0) expect(this.#held("ordinary")).toBe(MAX_WORKING);
    if (this.needed.length > 0) expect(this.#held("needed")).toBe(MAX_NEEDED);
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
    expect([this.expected, this.needed]).toEqual([[], []]);
    await this.#queue.whenIdle();
    expect(this.clock.pending).toBe(0);
  }

  #held(place: Priority): number {
    return this.live.filter((run) => run.place === place).length;
  }

  #add(id: string, priority: Priority): void {
    this.#owed.add(id);
    const again = this.#again.get(id);
    if (this.live.some((run) => run.key === id)) this.#again.set(id, morePressing(priority, again));
    else this.#enqueue(id, priority);
    this.#queue.add(id, id, priority);
  }

  #enqueue(id: string, priority: Priority): void {
    if (priority === "urgent") {
      this.#leave(id);
      this.#urgent.add(id);
    } else if (!this.#urgent.has(id)) {
      if (!this.expected.includes(id)) this.expected.push(id);
      if (priority === "needed" && !this.needed.includes(id)) this.needed.push(id);
    }
  }

  #leave(id: string): void {
    for (const queued of [this.expected, this.needed]) {
      const place = queued.indexOf(id);
      if (place !== -1) queued.splice(place, 1);
    }
  }

  #begin(id: string, holdsSlot: boolean): Promise<void> {
    expect(this.live.map((run) => run.key)).not.toContain(id);
    const place = this.#placeOf(id, holdsSlot);
    this.#leave(id);
    this.#owed.delete(id);
    return new Promise((end) => this.live.push({ key: id, place, end }));
  }

  /** The place that was free and whose turn the key's was. */
  #placeOf(id: string, holdsSlot: boolean): Priority {
    if (!holdsSlot) {
      expect(this.#urgent.delete(id)).toBe(true);
      return "urgent";
    }
    if (this.needed[0] === id && this.#held("needed") < MAX_NEEDED) return "needed";
    expect(this.expected[0]).toBe(id);
    return "ordinary";
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
    const priority = this.#again.get(id);
    if (priority === undefined) return;
    this.#again.delete(id);
    this.#enqueue(id, priority);
  }
}

function morePressing(one: Priority, other: Priority | undefined): Priority {
  if (one === "urgent" || other === "urgent") return "urgent";
  return one === "needed" || other === "needed" ? "needed" : "ordinary";
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
