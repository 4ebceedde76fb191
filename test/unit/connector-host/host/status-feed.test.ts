import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConnectorStatus } from "../../../../src/connector-host/host/connector-status.js";
import { notInstalled, type StatusChange, StatusFeed } from "../../../../src/connector-host/host/status-feed.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";

function row(connectorKey: string, version: number, changes: Partial<ConnectorStatus> = {}): ConnectorStatus {
  return { connectorKey, state: "ready", reason: String(version), since: 0, nextAttemptAt: undefined, ...changes };
}

/** A reading that has begun: it answers what was the case then, when it is told to. */
interface Reading {
  readonly rows: readonly ConnectorStatus[];
  end(failure?: Error): void;
}

/** A feed of which every reading ends when a test says so, and the level that is read. */
class Bench {
  readonly clock = new FakeClock();
  readonly level = new Map<string, ConnectorStatus>();
  readonly readings: Reading[] = [];
  readonly told: StatusChange[] = [];
  readonly troubles: unknown[] = [];
  reads = 0;
  readonly feed = new StatusFeed({
    now: () => this.clock.now(),
    schedule: (delayMs, run) => this.clock.schedule(delayMs, run),
    presume: (key) => this.level.get(key) ?? notInstalled(key),
    read: (keys) => {
      this.reads += 1;
      const rows = keys.flatMap((key) => this.level.get(key) ?? []);
      return new Promise((resolve, reject) => {
        this.readings.push({ rows, end: (failure) => (failure === undefined ? resolve(rows) : reject(failure)) });
      });
    },
    onListenerFailure: (error) => this.troubles.push(error),
    onTrouble: (error) => this.troubles.push(error),
  });

  constructor() {
    this.feed.subscribe((change) => this.told.push(change));
  }

  set(status: ConnectorStatus): void {
    this.level.set(status.connectorKey, status);
  }

  /** Ends every reading until none is left, and none is to come. */
  async rest(): Promise<void> {
    await settle();
    for (;;) {
      const next = this.readings.shift();
      if (next !== undefined) next.end();
      else if (this.clock.pending === 0) return;
      await this.clock.advance(Math.min(this.clock.dueInMs, 1_000));
    }
  }

  get reasons(): (string | undefined)[] {
    return this.told.map(({ status }) => `${status.connectorKey} ${String(status.reason)}`);
  }
}

type Step =
  | readonly ["change" | "presume" | "hint" | "take", "a" | "b" | "c"]
  | readonly ["read" | "fail" | "flush" | "turn"];

const KEY = fc.constantFrom("a" as const, "b" as const, "c" as const);
const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constantFrom("change" as const, "presume" as const, "hint" as const, "take" as const), KEY),
  fc.tuple(fc.constantFrom("read" as const, "fail" as const, "flush" as const, "turn" as const)),
);

describe("StatusFeed", () => {
  it("H-36: whatever is hinted at, presumed and read in whatever order: each change once, in order, never backwards, the level last", async () => {
    let version = 0;
    const property = fc.asyncProperty(fc.array(STEP, { maxLength: 40 }), async (steps) => {
      const bench = new Bench();
      for (const [what, key] of steps) {
        if (key !== undefined) {
          if (what === "change" || what === "presume") bench.set(row(key, (version += 1)));
          if (what === "take") bench.level.delete(key);
          if (what === "presume") bench.feed.presume([key]);
          else bench.feed.hint([key]);
        } else if (what === "read") bench.readings.shift()?.end();
        else if (what === "fail") bench.readings.shift()?.end(new Error("no store"));
        else if (what === "flush") bench.feed.flush();
        else await settle();
      }
      await bench.rest();
      const last = new Map<string, ConnectorStatus>();
      let newest = new Map<string, number>();
      for (const [index, { seq, status, previous }] of bench.told.entries()) {
        const { connectorKey, reason, state } = status;
        expect(seq).toBe(index + 1);
        expect(previous).toBe(last.get(connectorKey));
        if (state === "not_installed") {
          expect(previous).toBeDefined();
          last.delete(connectorKey);
          continue;
        }
        expect(Number(reason)).toBeGreaterThan(newest.get(connectorKey) ?? 0);
        newest = newest.set(connectorKey, Number(reason));
        last.set(connectorKey, status);
      }
      expect(last).toEqual(bench.level);
    });
    await fc.assert(property, { seed: 36, numRuns: 500 });
  });

  it("H-36: what is known at once is told before a reading ends, and one that began before is not believed", async () => {
    const bench = new Bench();
    bench.feed.begin([row("a", 1)]);
    bench.set(row("a", 1));
    bench.feed.hint(["a"]);
    await settle();
    bench.set(row("a", 2));
    bench.feed.presume(["a"]);
    expect(bench.told).toEqual([]);
    bench.feed.flush();
    expect(bench.reasons).toEqual(["a 2"]);
    bench.readings.shift()?.end();
    await bench.rest();
    expect(bench.reasons).toEqual(["a 2"]);
    expect(bench.told[0]?.previous).toEqual(row("a", 1));
  });

  it("H-36: another reason or next attempt is a change, another since is none", async () => {
    const bench = new Bench();
    for (const status of [
      row("a", 1),
      row("a", 1, { since: 5 }),
      row("a", 1, { nextAttemptAt: 9 }),
      row("a", 1, { nextAttemptAt: 10 }),
      row("a", 1, { nextAttemptAt: 10, state: "offline" }),
    ]) {
      bench.set(status);
      bench.feed.hint(["a"]);
      await bench.rest();
    }
    expect(bench.told.map(({ status: { state, nextAttemptAt } }) => [state, nextAttemptAt])).toEqual([
      ["ready", undefined],
      ["ready", 9],
      ["ready", 10],
      ["offline", 10],
    ]);
  });

  it("H-36: hints of one turn are one reading, of at most 256 connectors", async () => {
    const bench = new Bench();
    const keys = Array.from({ length: 300 }, (_, n) => `k${String(n)}`);
    for (const key of keys) bench.set(row(key, 1));
    for (const key of [...keys, ...keys]) bench.feed.hint([key]);
    await settle();
    expect(bench.readings.map(({ rows }) => rows.length)).toEqual([256]);
    await bench.rest();
    expect([bench.reads, bench.told.length]).toEqual([2, 300]);
  });

  it("H-36: readings keep a pause, in which hints gather", async () => {
    const bench = new Bench();
    for (let n = 1; n <= 50; n += 1) {
      bench.set(row("a", n));
      bench.feed.hint(["a"]);
      await bench.clock.advance(1);
      bench.readings.shift()?.end();
    }
    await bench.rest();
    expect(bench.reads).toBeLessThanOrEqual(4);
    expect(bench.reasons.at(-1)).toBe("a 50");
  });

  it("H-36: a store that fails is asked again after a second, and nothing is told of meanwhile but what is known", async () => {
    const bench = new Bench();
    bench.set(row("a", 1));
    bench.feed.hint(["a"]);
    await settle();
    bench.readings.shift()?.end(new Error("no store"));
    await settle();
    expect([bench.troubles.length, bench.reads, bench.clock.pending]).toEqual([1, 1, 1]);
    bench.feed.hint(["a"]);
    await bench.clock.advance(999);
    expect(bench.reads).toBe(1);
    await bench.rest();
    expect(bench.reasons).toEqual(["a 1"]);
  });

  it("H-36: a listener that causes a change hears of it after the present one, and one that throws costs nobody else anything", async () => {
    const bench = new Bench();
    const heard: string[] = [];
    bench.feed.subscribe(({ status }) => {
      if (status.reason !== "1") return;
      bench.set(row("a", 2));
      bench.feed.presume(["a"]);
      bench.feed.flush();
      throw new Error("a listener's own");
    });
    const end = bench.feed.subscribe(({ seq, status }) => heard.push(`${String(seq)} ${String(status.reason)}`));
    bench.set(row("a", 1));
    bench.feed.hint(["a"]);
    await bench.rest();
    expect(heard).toEqual(["1 1", "2 2"]);
    expect(bench.troubles).toHaveLength(1);
    end();
    bench.set(row("a", 3));
    bench.feed.hint(["a"]);
    await bench.rest();
    expect([heard.length, bench.told.length]).toEqual([2, 3]);
  });

  it("H-40: closed, it has told what is known at once, and tells nothing more", async () => {
    const bench = new Bench();
    bench.set(row("a", 1));
    bench.feed.presume(["a"]);
    bench.feed.close();
    expect(bench.reasons).toEqual(["a 1"]);
    bench.set(row("a", 2));
    bench.feed.presume(["a"]);
    await bench.rest();
    expect(bench.reasons).toEqual(["a 1"]);
    expect(bench.clock.pending).toBe(0);
  });
});
