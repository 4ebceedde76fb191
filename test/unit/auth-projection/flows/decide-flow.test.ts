import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FlowReason, FlowRow, FlowState } from "../../../../src/auth-projection/index.js";
import {
  decideFlow,
  FLOW_LIFETIME_MS,
  type FlowNews,
  isFinished,
} from "../../../../src/auth-projection/flows/decide-flow.js";
import { session } from "./world.js";
import { flowRow } from "../../../support/flow-row.js";

const NOW = 1_000_000;

function rowOf(members: Partial<FlowRow> = {}): FlowRow {
  return flowRow({ createdAt: NOW, updatedAt: NOW, ...members });
}

const STATES: readonly FlowState[] = [
  "starting",
  "waiting",
  "authorized",
  "cancelling",
  "connected",
  "failed",
  "cancelled",
];

/** A row of each state as it comes to be. */
const rows: Record<FlowState, FlowRow> = {
  starting: rowOf(),
  waiting: rowOf({ state: "waiting", sessionId: "s", nextAction: "redirect" }),
  authorized: rowOf({ state: "authorized", sessionId: "s", connectionId: "c-1" }),
  cancelling: rowOf({ state: "cancelling", sessionId: "s", reason: "expired" }),
  connected: rowOf({ state: "connected", sessionId: "s", connectionId: "c-1" }),
  failed: rowOf({ state: "failed", reason: "refused" }),
  cancelled: rowOf({ state: "cancelled", reason: "replaced" }),
};

const answers = {
  open: session(),
  secretWanted: session({ nextAction: { type: "submit_secret" } }),
  processing: session({ status: "processing", nextAction: undefined }),
  succeeded: session({ status: "succeeded", nextAction: undefined, connectionId: "c-1" }),
  failed: session({ status: "failed", nextAction: undefined, errorCode: "denied" }),
  canceled: session({ status: "canceled", nextAction: undefined }),
};

const said = (name: keyof typeof answers, secretLost = false): FlowNews => ({
  kind: "session",
  session: answers[name],
  secretLost,
});
const shown = (connectionId: string | undefined, isRefetched = false): FlowNews => ({
  kind: "shown",
  connectionId,
  isRefetched,
});
const cancel = (reason: "cancelled" | "replaced" | "disconnected"): FlowNews => ({ kind: "cancel", reason });
const refused: FlowNews = { kind: "refused", reason: "unreachable", errorCode: "timeout" };
const overdue: FlowNews = { kind: "time", overdue: true };

type Line = readonly [FlowState, string, FlowNews, Partial<FlowRow>];

const LINES: readonly Line[] = [
  ["starting", "an open session", said("open"), { state: "waiting", sessionId: "s-1", nextAction: "redirect" }],
  ["starting", "a success", said("succeeded"), { state: "authorized", sessionId: "s-1", connectionId: "c-1" }],
  ["starting", "a failure", said("failed"), { state: "failed", reason: "provider_failed", errorCode: "denied" }],
  ["starting", "a secret that is gone", said("secretWanted", true), { state: "cancelling", reason: "secret_lost" }],
  ["starting", "a lasting refusal", refused, { state: "failed", reason: "unreachable", errorCode: "timeout" }],
  ["starting", "its connection", shown("c-1"), { state: "connected", connectionId: "c-1" }],
  ["starting", "a cancellation", cancel("cancelled"), { state: "cancelled", reason: "cancelled" }],
  ["starting", "time", overdue, { state: "failed", reason: "expired" }],
  ["waiting", "another action", said("secretWanted"), { state: "waiting", nextAction: "submit_secret" }],
  ["waiting", "a success", said("succeeded"), { state: "authorized", connectionId: "c-1", sessionId: "s" }],
  ["waiting", "an end elsewhere", said("canceled"), { state: "failed", reason: "session_canceled" }],
  ["waiting", "a lasting refusal", refused, { state: "cancelling", reason: "unreachable", errorCode: "timeout" }],
  ["waiting", "its connection", shown("c-2"), { state: "connected", connectionId: "c-2" }],
  ["waiting", "a successor", cancel("replaced"), { state: "cancelling", reason: "replaced" }],
  ["waiting", "time", overdue, { state: "cancelling", reason: "expired" }],
  ["authorized", "its connection", shown("c-1"), { state: "connected", connectionId: "c-1" }],
  ["authorized", "a disconnect", cancel("disconnected"), { state: "cancelled", reason: "disconnected" }],
  ["authorized", "time", overdue, { state: "failed", reason: "connection_not_shown", connectionId: "c-1" }],
  ["cancelling", "the end of its session", { kind: "ended" }, { state: "failed", reason: "expired" }],
  ["cancelling", "time", overdue, { state: "failed", reason: "expired" }],
];

/** What changes nothing. */
const NOTHING: readonly (readonly [FlowState, string, FlowNews])[] = [
  ["starting", "a time that is not over", { kind: "time", overdue: false }],
  ["starting", "no connection", shown(undefined)],
  ["waiting", "the same again", { kind: "session", session: session({ sessionId: "s" }), secretLost: false }],
  ["waiting", "a session at work", said("processing", true)],
  ["waiting", "the end of a session that was not asked for", { kind: "ended" }],
  ["authorized", "a cancellation that comes too late", cancel("cancelled")],
  ["authorized", "an older answer", said("open")],
  ["authorized", "another connection", shown("c-2")],
  ["cancelling", "a success that comes too late", said("succeeded")],
  ["cancelling", "a connection", shown("c-1")],
  ["cancelling", "another cancellation", cancel("cancelled")],
  ["cancelling", "a refusal", refused],
];

describe("P-10: the states of a flow", () => {
  it.each(LINES)("P-10: %s, and %s", (state, _what, news, expected) => {
    const next = decideFlow(rows[state], news, NOW + 5);
    expect(next).toMatchObject({ ...expected, updatedAt: NOW + 5, createdAt: NOW });
  });

  it.each(NOTHING)("P-10: %s, and %s: nothing", (state, _what, news) => {
    expect(decideFlow(rows[state], news, NOW + 5)).toBe(rows[state]);
  });

  it("P-11: a connection that was there before is no result", () => {
    const row = rowOf({ state: "waiting", sessionId: "s", priorConnectionId: "c-1" });
    expect(decideFlow(row, shown("c-1", true), NOW)).toBe(row);
    expect(decideFlow(row, shown("c-2"), NOW)).toMatchObject({ state: "connected", connectionId: "c-2" });
  });

  it("P-11: one that was there before, and is granted anew, is a result when it was fetched anew", () => {
    const row = { ...rows.authorized, priorConnectionId: "c-1" };
    expect(decideFlow(row, shown("c-1"), NOW)).toBe(row);
    expect(decideFlow(row, shown("c-1", true), NOW)).toMatchObject({ state: "connected", connectionId: "c-1" });
    expect(decideFlow({ ...row, priorConnectionId: "c-0" }, shown("c-1"), NOW)).toMatchObject({ state: "connected" });
  });

  it.each([
    ["starting", 0, "failed"],
    ["waiting", 0, "cancelling"],
    // From its last change on, whenever the flow began.
    ["authorized", FLOW_LIFETIME_MS, "failed"],
    ["cancelling", FLOW_LIFETIME_MS, "failed"],
  ] as const)("P-10: the time of %s is ten minutes", (state, laterMs, expected) => {
    const row = { ...rows[state], updatedAt: NOW + laterMs };
    const time: FlowNews = { kind: "time", overdue: false };
    const over = NOW + laterMs + FLOW_LIFETIME_MS;
    expect(decideFlow(row, time, over - 1)).toBe(row);
    expect(decideFlow(row, time, over).state).toBe(expected);
    // A wall that was set back leaves the end to the timer.
    expect(decideFlow(row, time, NOW - 86_400_000)).toBe(row);
  });

  it("P-10: an answer that is open after ten minutes is the last one", () => {
    const row = rowOf({ createdAt: NOW - FLOW_LIFETIME_MS });
    expect(decideFlow(row, said("open"), NOW)).toMatchObject({
      state: "cancelling",
      reason: "expired",
      sessionId: "s-1",
    });
    expect(decideFlow(row, said("succeeded"), NOW)).toMatchObject({ state: "authorized" });
  });
});

const news: fc.Arbitrary<FlowNews> = fc.oneof(
  fc.record({
    kind: fc.constant("session" as const),
    session: fc.constantFrom(...Object.values(answers)),
    secretLost: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("refused" as const),
    reason: fc.constantFrom<FlowReason>("refused", "unreachable", "invalid_answer"),
    errorCode: fc.constantFrom(undefined, "code"),
  }),
  fc.record({
    kind: fc.constant("shown" as const),
    connectionId: fc.constantFrom(undefined, "c-0", "c-1", "c-2"),
    isRefetched: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("cancel" as const),
    reason: fc.constantFrom("cancelled" as const, "replaced" as const, "disconnected" as const),
  }),
  fc.constant({ kind: "ended" as const }),
  fc.record({ kind: fc.constant("time" as const), overdue: fc.boolean() }),
);

/** How far a flow is: it never goes back. */
const RANK: Record<FlowState, number> = {
  starting: 0,
  waiting: 1,
  authorized: 2,
  cancelling: 2,
  connected: 3,
  failed: 3,
  cancelled: 3,
};

describe("P-10: whatever comes, in whatever order", () => {
  const story = fc.array(fc.tuple(news, fc.integer({ min: -1_000, max: 200_000 })), { maxLength: 40 });
  const begin = fc.constantFrom(rowOf(), rowOf({ priorConnectionId: "c-0" }));

  it("P-10: it goes forwards only, keeps what it is, and says why it ended", () => {
    fc.assert(
      fc.property(begin, story, (first, steps) => {
        let row = first;
        let now = NOW;
        for (const [one, passedMs] of steps) {
          now += passedMs;
          const next = decideFlow(row, one, now);
          expect(RANK[next.state]).toBeGreaterThanOrEqual(RANK[row.state]);
          if (isFinished(row)) expect(next).toBe(row);
          if (row.sessionId !== undefined) expect(next.sessionId).toBe(row.sessionId);
          if (next === row) continue;
          const { state, connectionId, reason, sessionId, updatedAt, ...kept } = next;
          expect(updatedAt).toBe(now);
          expect(kept).toMatchObject({
            clientRequestId: "r",
            createdAt: NOW,
            priorConnectionId: first.priorConnectionId,
          });
          if (state === "authorized" || state === "connected") expect(connectionId).toBeDefined();
          if (state === "connected" && row.state !== "authorized")
            expect(connectionId).not.toBe(first.priorConnectionId);
          expect(reason === undefined).toBe(!["cancelling", "failed", "cancelled"].includes(state));
          if (state === "waiting" || state === "cancelling") expect(sessionId).toBeDefined();
          if (state === "cancelled") expect(["cancelled", "replaced", "disconnected"]).toContain(reason);
          if (state === "failed") expect(["cancelled", "replaced", "disconnected"]).not.toContain(reason);
          row = next;
        }
      }),
    );
  });

  it("P-10: time alone ends it, in three steps at most", () => {
    fc.assert(
      fc.property(begin, story, (first, steps) => {
        let row = first;
        for (const [one] of steps) row = decideFlow(row, one, NOW);
        for (let step = 0; step < 3; step += 1) row = decideFlow(row, { kind: "time", overdue: true }, NOW);
        expect(isFinished(row)).toBe(true);
      }),
    );
  });

  it("P-10: no state is left out", () => {
    expect(Object.keys(RANK)).toEqual(STATES);
    for (const state of STATES) expect(isFinished(rows[state])).toBe(RANK[state] === 3);
  });
});
