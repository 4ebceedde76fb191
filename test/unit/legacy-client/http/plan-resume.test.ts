import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  backoffMs,
  encodeEventId,
  mayPass,
  planResume,
  type ResumeConfig,
  type StreamEnd,
} from "../../../../src/legacy-client/http/plan-resume.js";

const CONFIG: ResumeConfig = { maxFruitlessResumes: 3, longestRetryMs: 10_000, random: () => 0 };
const END: StreamEnd = { lastEventId: "e", retryMs: 20, fruitless: 0 };

const plan = (end: Partial<StreamEnd>, config: Partial<ResumeConfig> = {}) =>
  planResume({ ...END, ...end }, { ...CONFIG, ...config });

describe("planResume", () => {
  it.each<[string, Partial<StreamEnd>, number]>([
    ["after the server's pause", {}, 20],
    ["at once when the server wants it so", { retryMs: 0 }, 0],
    ["after a second when it says nothing", { retryMs: undefined }, 1_000],
    ["later after an attempt without fruit", { fruitless: 1 }, 270],
    ["later still after another", { fruitless: 2 }, 520],
    ["also when the last attempt met a 503", { fruitless: 1, refusedWith: 503 }, 270],
    ["at the very ceiling", { retryMs: 10_000 }, 10_000],
  ])("L-5: takes the stream up again %s", (_when, end, delayMs) => {
    expect(plan(end)).toEqual({ kind: "resume", lastEventId: "e", delayMs });
  });

  it.each<[string, Partial<StreamEnd>]>([
    ["without an event id", { lastEventId: undefined }],
    ["after too many attempts without fruit", { fruitless: 3 }],
    ["when the pause is above the ceiling", { retryMs: 10_001 }],
    ["when the server refuses it", { fruitless: 1, refusedWith: 405 }],
  ])("L-5: gives up %s", (_when, end) => {
    expect(plan(end)).toMatchObject({ kind: "give_up" });
  });

  it("L-5: takes nothing up when no attempt is allowed", () => {
    expect(plan({}, { maxFruitlessResumes: 0 }).kind).toBe("give_up");
  });

  it("L-5: never comes before the server's pause, and never without a place", () => {
    const ends = fc.record({
      lastEventId: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      retryMs: fc.option(fc.nat(20_000), { nil: undefined }),
      fruitless: fc.nat(60),
      refusedWith: fc.option(fc.integer({ min: 300, max: 599 }), { nil: undefined }),
    });
    const randoms = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(ends, randoms, fc.nat(50), (end, random, maxFruitlessResumes) => {
        const decided = planResume(end, { ...CONFIG, maxFruitlessResumes, random: () => random });
        if (decided.kind === "give_up") return;
        expect(decided.lastEventId).toBe(end.lastEventId);
        expect(end.fruitless).toBeLessThan(maxFruitlessResumes);
        expect(decided.delayMs).toBeGreaterThanOrEqual(end.retryMs ?? 1_000);
        expect(decided.delayMs).toBeLessThanOrEqual((end.retryMs ?? 1_000) + 30_000);
      }),
    );
  });

  it("adds more with each failure, half of it random, up to half a minute", () => {
    expect([0, 1, 2, 3, 20, 1_000].map((n) => backoffMs(n, () => 1))).toEqual([0, 500, 1_000, 2_000, 30_000, 30_000]);
    expect([1, 2].map((n) => backoffMs(n, () => 0))).toEqual([250, 500]);
  });

  it.each([
    ["e-1", "e-1"],
    ["0", "0"],
    [" a ", " a "],
    ["", undefined],
    ["a\tb", undefined],
    ["a\u0000b", undefined],
    ["ü", "\u00c3\u00bc"],
    ["€", "\u00e2\u0082\u00ac"],
  ])("L-5: the id %j goes back as %j", (id, value) => {
    expect(encodeEventId(id)).toBe(value);
  });

  it("knows what may pass", () => {
    expect([408, 425, 429, 500, 502, 503, 504].every(mayPass)).toBe(true);
    expect([200, 307, 400, 401, 403, 404, 405, 406, 410, 501].some(mayPass)).toBe(false);
  });
});
