import { describe, expect, it } from "vitest";
import { CloseBound, resolveCloseOptions } from "../../../../src/connector-host/host/close-bound.js";
import { silentLogger } from "../../../../src/transport/index.js";
import { FakeClock, settle } from "../../../support/fake-clock.js";

const HANGS = new Promise<never>(() => undefined);

function bench(limitMs = 1_000) {
  const clock = new FakeClock();
  const warned: unknown[] = [];
  const logger = { ...silentLogger, warn: (_message: string, fields?: object) => void warned.push(fields) };
  const bound = new CloseBound(limitMs, clock, logger);
  const over: string[] = [];
  const wait = (
    stage: string,
    parts: Record<string, Promise<unknown> | undefined>,
    until: number,
    isForCalls = false,
  ) => void bound.wait({ stage, parts, until, isForCalls }).then(() => over.push(stage));
  return { clock, bound, warned, over, wait };
}

describe("CloseBound", () => {
  it("H-40: a stage is over with its last part, or at its share of the whole; what is left is named", async () => {
    const { clock, bound, warned, over, wait } = bench();
    wait("quick", { done: Promise.resolve(), none: undefined }, 0.4);
    await settle();
    expect([over, warned, clock.pending]).toEqual([["quick"], [], 0]);
    wait("slow", { done: Promise.resolve(), one: HANGS, other: HANGS }, 0.4);
    await clock.advance(399);
    expect(over).toEqual(["quick"]);
    await clock.advance(1);
    expect(over).toEqual(["quick", "slow"]);
    expect(warned).toEqual([{ stage: "slow", parts: ["one", "other"] }]);
    expect([bound.leftMs(0.4), bound.leftMs(0.8), bound.leftMs(1)]).toEqual([0, 400, 600]);
    // What came too late for its share is not waited for.
    wait("late", { one: HANGS }, 0.4);
    await clock.advance(0);
    expect(over).toEqual(["quick", "slow", "late"]);
  });

  it("H-40: a part that fails is told of, and the others are waited for", async () => {
    const { clock, warned, over, wait } = bench();
    const error = new Error("no");
    let end = (): void => undefined;
    const other = new Promise<void>((resolve) => (end = resolve));
    wait("stage", { part: Promise.reject(error), other }, 1);
    await settle();
    expect([warned, over]).toEqual([[{ stage: "stage", part: "part", error }], []]);
    end();
    await settle();
    expect([over, clock.pending]).toEqual([["stage"], 0]);
  });

  it.each([["before"], ["meanwhile"]])(
    "H-40: forced %s, a stage about calls has 100 ms, and others all their time",
    async (when) => {
      const { clock, bound, over, wait } = bench();
      if (when === "before") bound.force();
      wait("calls", { one: HANGS }, 0.4, true);
      if (when === "meanwhile") {
        await clock.advance(50);
        bound.force();
      }
      await clock.advance(99);
      expect(over).toEqual([]);
      await clock.advance(1);
      expect(over).toEqual(["calls"]);
      wait("programs", { one: HANGS }, 0.8);
      bound.force();
      const left = bound.leftMs(0.8);
      await clock.advance(left - 1);
      expect(over).toEqual(["calls"]);
      await clock.advance(1);
      expect(over).toEqual(["calls", "programs"]);
    },
  );

  it("H-40: forcing does not lengthen what is nearly over", async () => {
    const { clock, bound, over, wait } = bench(100);
    wait("calls", { one: HANGS }, 0.4, true);
    bound.force();
    await clock.advance(40);
    expect(over).toEqual(["calls"]);
  });

  it("H-40: no option is needed, and none that is not known is taken", () => {
    expect([resolveCloseOptions({}), resolveCloseOptions({ force: true })]).toEqual([
      { force: false },
      { force: true },
    ]);
    const unknown: object = { forced: true };
    expect(() => resolveCloseOptions(unknown)).toThrow(expect.objectContaining({ code: "invalid_options" }));
  });
});
