import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReconcileEvent, TransitionEvent } from "../../../src/reconcile/index.js";
import { isExpired, type EventRetention } from "../../../src/reconcile/event-retention.js";
import { LogWorld, LOST, type Read, removed } from "./log-world.js";

const SEED = 20_261_201;

type Step =
  /** One transaction; between its transitions there may be notices. */
  | { readonly kind: "write"; readonly facts: readonly ("transition" | "notice")[]; readonly fails: boolean }
  | { readonly kind: "notice" | "prune" | "restart" }
  | { readonly kind: "read"; readonly reader: number; readonly times: number }
  /** Negative: the clock is set back. */
  | { readonly kind: "pass"; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("write"),
      facts: fc.oneof(
        fc.array(fc.constantFrom("transition", "notice"), { maxLength: 8 }),
        fc.array(fc.constant("transition"), { minLength: 50, maxLength: 90, size: "max" }),
      ),
      fails: fc.nat(4).map((n) => n === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("notice", "prune", "restart") }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("read"), reader: fc.nat(2), times: fc.integer({ min: 1, max: 90 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pass"), ms: fc.constantFrom(1, 400, 1_000, 1_001, -700) }) },
);

/** A reader, and all that it was given, over every process. */
interface Reader {
  readonly heard: Read[];
  items: AsyncGenerator<Read, void, undefined>;
}

/** A log, what was committed in it, and readers of different pace. */
class Model {
  readonly #limits: EventRetention;
  readonly #world: LogWorld;
  readonly #committed: TransitionEvent[] = [];
  readonly #readers: readonly Reader[];
  #told: ReconcileEvent[];
  /** What subscribers should have heard since the last look, as kind and number. */
  readonly #expected: string[] = [];
  /** Everything up to this number was expired at some time. */
  #everExpired = 0;

  constructor(maxKeptEvents: number) {
    this.#limits = { maxKeptEvents, keepEventsMs: 1_000 };
    this.#world = new LogWorld(this.#limits);
    this.#told = this.#world.listen();
    this.#readers = [0, 1, 2].map(() => ({ heard: [], items: this.#world.log.follow({ after: 0 }) }));
  }

  get #last(): number {
    return this.#committed.length;
  }

  async apply(each: Step): Promise<void> {
    const { log, clock } = this.#world;
    switch (each.kind) {
      case "write":
        await this.#write(each.facts, each.fails);
        break;
      case "notice":
        this.#notice(this.#known);
        break;
      case "prune":
        await log.prune();
        break;
      case "restart":
        this.#restart();
        break;
      case "read":
        await this.#read(this.#readers[each.reader], each.times);
        break;
      case "pass":
        clock.step(each.ms);
        break;
    }
    this.#everExpired = Math.max(this.#everExpired, this.#expiredNow());
    // Each is looked at once.
    expect(this.#told.splice(0).map(({ kind, seq }) => `${kind} ${String(seq)}`)).toEqual(this.#expected.splice(0));
  }

  /** Every reader reads to the end, and nobody was given anything else than what was committed. */
  async finish(): Promise<void> {
    for (const reader of this.#readers) {
      await this.#read(reader, Infinity);
      let place = 0;
      for (const each of reader.heard) {
        if (each.kind === "gap") {
          expect(each.after).toBe(place);
          expect(each.seq).toBeGreaterThan(place);
        } else {
          expect(each.seq).toBe(place + 1);
          expect(each).toEqual(this.#committed[place]);
        }
        place = each.seq;
      }
      expect(place).toBe(this.#last);
    }
    expect((await this.#world.rows()).length).toBeLessThan(this.#limits.maxKeptEvents + 64);
  }

  /** What the log can know of its last number: nothing in a process that has neither read nor recorded. */
  #known = 0;

  async #write(facts: readonly ("transition" | "notice")[], fails: boolean): Promise<void> {
    const { log, store, clock } = this.#world;
    const own: TransitionEvent[] = [];
    const write = store.write(async (tx) => {
      for (const fact of facts) {
        if (fact === "notice") {
          this.#notice(this.#known);
          continue;
        }
        const seq = this.#last + own.length + 1;
        // By the time of a rollback the number is another's: the key tells whose event it is.
        const key = `${String(seq)} ${String(fails)}`;
        await log.record(tx, removed(key));
        own.push({ ...removed(key), seq, at: clock.now() });
      }
      if (fails) throw new Error("mine");
    });
    if (fails) await expect(write).rejects.toThrow("mine");
    else await write;
    if (fails || own.length === 0) return;
    this.#committed.push(...own);
    this.#known = this.#last;
    this.#expected.push(...own.map(({ seq }) => `removed ${String(seq)}`));
  }

  #notice(seq: number): void {
    this.#expected.push(`superseded ${String(seq)}`);
    this.#world.log.notify(LOST);
  }

  #restart(): void {
    this.#world.restart();
    this.#told = this.#world.listen();
    this.#known = 0;
    for (const reader of this.#readers) reader.items = this.#world.log.follow({ after: placeOf(reader) });
  }

  async #read(reader: Reader | undefined, times: number): Promise<void> {
    if (reader === undefined) throw new Error("no such reader");
    for (let i = 0; i < times && placeOf(reader) < this.#last; i += 1) {
      const place = placeOf(reader);
      const { value } = await reader.items.next();
      if (value === undefined) throw new Error("the reader has ended");
      const expired = this.#expiredNow();
      this.#everExpired = Math.max(this.#everExpired, expired);
      if (value.kind === "gap") expect(place + 1).toBeLessThanOrEqual(this.#everExpired);
      else expect(value.seq).toBeGreaterThan(expired);
      reader.heard.push(value);
      this.#known = this.#last;
    }
  }

  /** The last number before the first event that is to be kept. */
  #expiredNow(): number {
    const present = { seq: this.#last, at: this.#world.clock.now() };
    const kept = this.#committed.findIndex((event) => !isExpired(event, present, this.#limits));
    return kept < 0 ? this.#last : kept;
  }
}

function placeOf({ heard }: Reader): number {
  return heard.at(-1)?.seq ?? 0;
}

describe("Readers of events, whatever happens", () => {
  it("R-8: are given exactly what was committed, in order, or a gap where it was not kept; restarts are not seen", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40, size: "max" }),
        fc.constantFrom(1, 5, 100),
        async (steps, maxKeptEvents) => {
          const model = new Model(maxKeptEvents);
          for (const each of steps) await model.apply(each);
          await model.finish();
        },
      ),
      { seed: SEED, numRuns: 200 },
    );
  }, 60_000);
});
