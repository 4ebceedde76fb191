import { describe, expect, it } from "vitest";
import { endGroup, type ProcessGroup, taskkillArguments } from "../../../../src/transport/process/process-group.js";
import { readProcessStat } from "../../../../src/transport/process/process-stat.js";
import { FakeClock } from "../../../support/fake-clock.js";

/** A group that is gone so many milliseconds after it was asked, or ended. */
class Group implements ProcessGroup {
  readonly log: string[] = [];
  readonly #clock: FakeClock;
  readonly #obeysAfterMs: number;
  readonly #diesAfterMs: number;
  #goneAt = Infinity;

  constructor(clock: FakeClock, obeysAfterMs: number, diesAfterMs = 0) {
    this.#clock = clock;
    this.#obeysAfterMs = obeysAfterMs;
    this.#diesAfterMs = diesAfterMs;
  }

  isAlive(): boolean {
    return this.#clock.now() < this.#goneAt;
  }

  terminate(): void {
    this.log.push("asked");
    this.#goneAt = Math.min(this.#goneAt, this.#clock.now() + this.#obeysAfterMs);
  }

  kill(): void {
    this.log.push("ended");
    this.#goneAt = Math.min(this.#goneAt, this.#clock.now() + this.#diesAfterMs);
  }
}

async function end(clock: FakeClock, group: Group): Promise<number> {
  const started = clock.now();
  let took = NaN;
  const ending = endGroup(group, 2_000, clock).then(() => {
    took = clock.now() - started;
    return took;
  });
  await clock.advance(10_000);
  return ending;
}

describe("endGroup", () => {
  it("L-15: asks, and is done soon after the group is gone", async () => {
    const clock = new FakeClock();
    const group = new Group(clock, 100);
    expect(await end(clock, group)).toBeLessThan(250);
    expect(group.log).toEqual(["asked"]);
    expect(clock.pending).toBe(0);
  });

  it("L-15: ends after the grace what does not obey", async () => {
    const clock = new FakeClock();
    const group = new Group(clock, Infinity);
    expect(await end(clock, group)).toBe(2_000);
    expect(group.log).toEqual(["asked", "ended"]);
  });

  it("L-15: gives up on what nothing can end", async () => {
    const clock = new FakeClock();
    const group = new Group(clock, Infinity, Infinity);
    expect(await end(clock, group)).toBe(2_500);
    expect(clock.pending).toBe(0);
  });

  it("does nothing to a group that is gone", async () => {
    const clock = new FakeClock();
    const group = new Group(clock, 0);
    group.terminate();
    expect(await end(clock, group)).toBe(0);
    expect(group.log).toEqual(["asked"]);
  });
});

describe("taskkillArguments", () => {
  it("L-15: ends the tree on Windows", () => {
    expect(taskkillArguments(12)).toEqual(["/pid", "12", "/T", "/F"]);
  });
});

describe("readProcessStat", () => {
  it.each([
    ["a running process", "12 (node) S 1 34 34 0 -1", { group: 34, hasEnded: false }],
    ["one that waits to be collected", "12 (node) Z 1 34 34 0 -1", { group: 34, hasEnded: true }],
    ["a dead one", "12 (node) X 1 34 34 0 -1", { group: 34, hasEnded: true }],
    ["a name that looks like the rest", "12 (a) S 1 (b) Z) R 1 34 35 0 -1", { group: 34, hasEnded: false }],
    ["a kernel thread", "2 (kthreadd) S 0 0 0 0 -1", { group: 0, hasEnded: false }],
    ["something else", "hello", undefined],
    ["nothing", "", undefined],
  ])("reads %s", (_name, text, expected) => {
    expect(readProcessStat(text)).toEqual(expected);
  });
});
