import { describe, expect, it } from "vitest";
import {
  type ListeningEnd,
  type ListeningHistory,
  type ListeningPlan,
  planListening,
} from "../../../../src/legacy-client/http/plan-listening.js";

const CONFIG = { maxFruitlessResumes: 3, longestRetryMs: 10_000, random: () => 0 };
const BEFORE: ListeningHistory = { hasWorked: false, hasId: true, fruitless: 0, retryMs: undefined };

const plan = (end: ListeningEnd, before: Partial<ListeningHistory> = {}): ListeningPlan =>
  planListening(end, { ...BEFORE, ...before }, CONFIG);
const refused = (status: number, retryAfterMs?: number): ListeningEnd => ({ kind: "refused", status, retryAfterMs });

describe("planListening", () => {
  it.each([200, 204, 307, 400, 401, 403, 404, 405, 406, 410, 501])("L-4: %i means a session without it", (status) => {
    expect(plan(refused(status)).kind).toBe("stop");
    if (status !== 404) expect(plan(refused(status), { hasWorked: true }).kind).toBe("stop");
  });

  it("A-8, L-4: a client that could not be authorized goes on without it", () => {
    const stopped = { kind: "stop", reason: "the client is not authorized for it" };
    expect(plan({ kind: "unauthorized" })).toEqual(stopped);
    expect(plan({ kind: "unauthorized" }, { hasWorked: true })).toEqual(stopped);
  });

  it("L-4: 405 is worth a word only from a server that had one", () => {
    expect(plan(refused(405))).toEqual({ kind: "stop", reason: undefined });
    expect(plan(refused(405), { hasWorked: true })).toEqual({ kind: "stop", reason: "the server refuses it with 405" });
  });

  it("L-3, L-4: 404 after it was open means a lost session", () => {
    expect(plan(refused(404), { hasWorked: true })).toEqual({ kind: "session_lost" });
    expect(plan(refused(404), { hasWorked: true, hasId: false }).kind).toBe("stop");
  });

  it.each<[string, ListeningEnd, Partial<ListeningHistory>, number]>([
    ["an end after messages", { kind: "ended" }, {}, 1_000],
    ["an end without any", { kind: "ended" }, { fruitless: 1 }, 1_250],
    ["another one", { kind: "ended" }, { fruitless: 2 }, 1_500],
    ["the server's own pause", { kind: "ended" }, { retryMs: 50 }, 50],
    ["a failed connection", { kind: "failed" }, { fruitless: 1, retryMs: 50 }, 300],
    ["429 with a Retry-After", refused(429, 5_000), { fruitless: 1 }, 5_250],
    ["503", refused(503), { fruitless: 1 }, 1_250],
  ])("L-4: opens it again after %s", (_what, end, before, delayMs) => {
    expect(plan(end, before)).toEqual({ kind: "open", delayMs });
  });

  it.each<[string, ListeningEnd, Partial<ListeningHistory>]>([
    ["three attempts without fruit", { kind: "ended" }, { fruitless: 3 }],
    ["failures of the network", { kind: "failed" }, { fruitless: 3 }],
    ["a pause above the ceiling", { kind: "ended" }, { retryMs: 10_001 }],
    ["a Retry-After above it", refused(503, 10_001), {}],
  ])("L-4: gives up after %s", (_what, end, before) => {
    expect(plan(end, before).kind).toBe("stop");
  });
});
