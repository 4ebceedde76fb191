import { expect, it } from "vitest";
import { decideApply } from "../../../src/auth-projection/decide-apply.js";
import {
  decideClearing,
  decideOverlay,
  effectiveRow,
  type Observation,
} from "../../../src/auth-projection/decide-overlay.js";
import { classifyFailure } from "../../../src/auth-projection/flows/classify-failure.js";
import { decideFlow, FLOW_LIFETIME_MS, type FlowNews } from "../../../src/auth-projection/flows/decide-flow.js";
import { CONVERGE_MS } from "../../../src/auth-projection/flows/flow-outcome.js";
import type {
  AccountSyncRow,
  AppliedSnapshot,
  FlowRow,
  FlowState,
  OverlayRow,
  ProjectionRow,
} from "../../../src/auth-projection/index.js";
import { holdDelay, pollDelay, retryDelay, SPACING_MS } from "../../../src/auth-projection/sync-delays.js";
import { type ErrorDetails, RemoteConnectorError } from "../../../src/errors.js";
import { session } from "./flows/world.js";
import { readPageTables } from "../../support/page-tables.js";
import { flowRow } from "../../support/flow-row.js";

const tables = readPageTables("docs/auth-projection.md");

it("P-3: the page tells what becomes of a snapshot", () => {
  const now = 1_000_000;
  const stored: AccountSyncRow = {
    accountId: "acc",
    syncSeq: 1,
    applied: { epoch: "=now", revision: 5n, digest: "d" },
    pastEpochs: ["=past"],
    hold: undefined,
    seenAt: now,
  };
  const same: AppliedSnapshot = { epoch: "=now", revision: 5n, digest: "d" };
  const insisted = { epoch: "=now", revision: 4n, count: 2, since: now - 60_000 };
  const cases: readonly (readonly [string, AccountSyncRow | undefined, AppliedSnapshot, boolean?])[] = [
    ["the account's first", undefined, same],
    ["an epoch that was never seen", stored, { ...same, epoch: "=new", revision: 1n }],
    ["one of the last four epochs that were left behind", stored, { ...same, epoch: "=past", revision: 9n }],
    ["a smaller revision", stored, { ...same, revision: 4n }],
    ["the third of those in a row, over a minute", { ...stored, hold: insisted }, { ...same, revision: 4n }],
    ["a greater revision", stored, { ...same, revision: 6n }],
    ["the same revision, another body", stored, { ...same, digest: "e" }],
    ["the same, in a new scope epoch", stored, same, true],
    ["the same again", stored, same],
  ];
  const rows = cases.map(([what, row, snapshot, firstFetchOfScopeEpoch = false]) => {
    const verdict = decideApply(row, snapshot, { firstFetchOfScopeEpoch, now });
    return [what, verdict.kind, verdict.kind === "confirm" ? "" : verdict.reason];
  });
  expect(tables.get("What becomes of a snapshot")).toEqual([["it is", "verdict", "reason"], ...rows]);
});

const row: ProjectionRow = {
  accountId: "acc",
  connectorKey: "github",
  connectorVersion: "1.0.0",
  state: "connected",
  connectionId: "c",
  connectionVersion: 4n,
  epoch: "-",
  revision: 1n,
  quarantined: undefined,
  updatedAt: 0,
};
const overlay: OverlayRow = {
  accountId: "acc",
  connectorKey: "github",
  connectionId: "c",
  connectionVersion: 4n,
  state: "expired",
  syncSeq: 7,
  phase: "standing",
  stepMs: 0,
  heldUntil: undefined,
};

it("P-6: the page tells what becomes of an observation", () => {
  const observed: Observation = { connectorKey: "github", connectionId: "c", connectionVersion: 4n, state: "expired" };
  const facts = { row, overlay: undefined, accountId: "acc", syncSeq: 7, now: 0 };
  const cases: readonly (readonly [string, Observation, Partial<Parameters<typeof decideOverlay>[1]>])[] = [
    ["the first of the present connection", observed, {}],
    ["of an older connection version", { ...observed, connectionVersion: 3n }, {}],
    ["of a row that is not connected", observed, { row: { ...row, state: "expired" } }],
    ["the same again", observed, { overlay }],
    ["the same, after the start of another fetch", observed, { overlay, syncSeq: 8 }],
    ["another state", { ...observed, state: "disconnected" }, { overlay }],
    ["again, after it was cleared", observed, { overlay: { ...overlay, phase: "cleared" } }],
    ["and again", observed, { overlay: { ...overlay, phase: "cleared", stepMs: 1_000 } }],
    ["and again, after long", observed, { overlay: { ...overlay, phase: "cleared", stepMs: 300_000 } }],
  ];
  const rows = cases.map(([what, observation, members]) => {
    const verdict = decideOverlay(observation, { ...facts, ...members });
    if (verdict.kind !== "put") return [what, verdict.kind, ""];
    const { stepMs } = verdict.overlay;
    return [what, verdict.overlay.phase, stepMs === 0 ? "" : `${String(stepMs / 1_000)} s`];
  });
  expect(tables.get("What becomes of an observation")).toEqual([["it is", "then", "held for"], ...rows]);
});

it("P-6: the page tells what a fetch does to it", () => {
  const held: OverlayRow = { ...overlay, stepMs: 1_000, heldUntil: 1_000 };
  const cases: readonly (readonly [string, OverlayRow, Parameters<typeof decideClearing>[2], ProjectionRow?])[] = [
    ["standing, a fetch that started before it", overlay, { fetchSeq: 7, now: 0 }],
    ["standing, a later fetch", overlay, { fetchSeq: 8, now: 0 }],
    ["standing and held, a later fetch", held, { fetchSeq: 8, now: 999 }],
    ["clearing, before its hold is over", { ...held, phase: "clearing" }, { fetchSeq: undefined, now: 999 }],
    ["clearing, when its hold is over", { ...held, phase: "clearing" }, { fetchSeq: undefined, now: 1_000 }],
    ["cleared, any fetch", { ...overlay, phase: "cleared" }, { fetchSeq: 8, now: 0 }],
    ["any, another connection version", held, { fetchSeq: 8, now: 0 }, { ...row, connectionVersion: 5n }],
  ];
  const rows = cases.map(([what, before, facts, other = row]) => {
    const verdict = decideClearing(before, other, facts);
    const after = verdict.kind === "put" ? verdict.overlay : verdict.kind === "keep" ? before : undefined;
    return [what, after?.phase ?? "forgotten", effectiveRow(other, after).state];
  });
  expect(tables.get("What a fetch does to it")).toEqual([["it is", "then", "the row counts as"], ...rows]);
});

const flow = flowRow({ priorConnectionId: "c-0" });

it("P-10: the page tells where a flow goes", () => {
  const states: readonly FlowRow[] = [
    flow,
    { ...flow, state: "waiting", sessionId: "s-1", nextAction: "submit_secret" },
    { ...flow, state: "authorized", sessionId: "s-1", connectionId: "c-1" },
    { ...flow, state: "cancelling", sessionId: "s-1", reason: "expired" },
    { ...flow, state: "cancelling", sessionId: "s-1", reason: "cancelled" },
    { ...flow, state: "connected", sessionId: "s-1", connectionId: "c-1" },
  ];
  const wants = session({ nextAction: { type: "submit_secret" } });
  const said = (answer: Parameters<typeof session>[0], secretLost = false): FlowNews => ({
    kind: "session",
    session: { ...wants, ...answer },
    secretLost,
  });
  const news: readonly (readonly [string, FlowNews])[] = [
    ["its session is open", said({})],
    ["it waits for a secret that is gone", said({}, true)],
    ["its session succeeded", said({ status: "succeeded", connectionId: "c-1" })],
    ["its session failed", said({ status: "failed" })],
    ["a request failed for good", { kind: "refused", reason: "refused", errorCode: "no" }],
    ["the snapshot shows its connection", { kind: "shown", connectionId: "c-1", isRefetched: true }],
    ["the snapshot shows the one before", { kind: "shown", connectionId: "c-0", isRefetched: true }],
    ["it is cancelled", { kind: "cancel", reason: "cancelled" }],
    ["it is replaced", { kind: "cancel", reason: "replaced" }],
    ["its session was ended", { kind: "ended" }],
    ["ten minutes are over", { kind: "time", overdue: true }],
  ];
  const title = ({ state, reason }: FlowRow): string => (reason === undefined ? state : `${state}, ${reason}`);
  const rows = news.map(([what, one]) => [
    what,
    ...states.map((before) => {
      const after = decideFlow(before, one, 1);
      return after === before ? "" : title(after);
    }),
  ]);
  expect(tables.get("Where a flow goes")).toEqual([["", ...states.map(title)], ...rows]);
});

it("P-10: the page has every state and every reason of a flow", () => {
  const states: Record<FlowState, true> = {
    starting: true,
    waiting: true,
    authorized: true,
    cancelling: true,
    connected: true,
    failed: true,
    cancelled: true,
  };
  const reasons: Record<NonNullable<FlowRow["reason"]>, true> = {
    provider_failed: true,
    session_canceled: true,
    expired: true,
    refused: true,
    unreachable: true,
    invalid_answer: true,
    secret_lost: true,
    connection_not_shown: true,
    cancelled: true,
    replaced: true,
    disconnected: true,
  };
  expect(
    tables
      .get("The states of a flow")
      ?.slice(1)
      .map(([state]) => state),
  ).toEqual(Object.keys(states));
  expect(
    tables
      .get("Why a flow ends")
      ?.slice(1)
      .map(([reason]) => reason),
  ).toEqual(Object.keys(reasons));
});

it("P-10: the page tells which failures pass", () => {
  const refused = (status: number, retryable?: boolean): RemoteConnectorError =>
    errorOf("control_plane_error", { status, controlCode: undefined, controlMessage: undefined, retryable });
  const cases: readonly (readonly [string, RemoteConnectorError])[] = [
    ["connect_failed", errorOf("connect_failed", { origin: "", reason: "" })],
    ["connect_failed, lasting", errorOf("connect_failed", { origin: "", reason: "", lasting: true })],
    ["connection_broken", errorOf("connection_broken", { origin: "", reason: "" })],
    ["timeout", errorOf("timeout", { phase: "total", option: "", limitMs: 1 })],
    ["authorize_failed", errorOf("authorize_failed", { reason: "" })],
    ["account_not_ready", errorOf("account_not_ready", {})],
    ["control_plane_error, retryable", refused(409, true)],
    ["control_plane_error, not retryable", refused(503, false)],
    ["control_plane_error, 408, 425, 429 or 5xx", refused(503)],
    ["control_plane_error, any other", refused(409)],
    ["invalid_session", errorOf("invalid_session", { reason: "" })],
    ["redirect_refused", errorOf("redirect_refused", { status: 302, location: "", reason: "" })],
  ];
  for (const status of [408, 425, 429, 500]) expect(classifyFailure(refused(status)).kind).toBe("passing");
  const rows = cases.map(([what, error]) => {
    const { kind, reason } = classifyFailure(error);
    return [what, kind, reason];
  });
  expect(tables.get("Which failures pass")).toEqual([["failure", "it is", "reason"], ...rows]);
});

it("the page has the times", () => {
  const least = (): number => 0;
  const most = (): number => 1;
  const between = (delay: (random: () => number) => number): string =>
    `${String(delay(least) / 1_000)} to ${String(delay(most) / 1_000)} s`;
  expect(
    tables
      .get("Times")
      ?.slice(1)
      .map((cells) => cells.slice(0, 2)),
  ).toEqual([
    ["between the starts of two fetches", `at least ${String(SPACING_MS / 1_000)} s`],
    ["poll, if nothing wakes it", between(pollDelay)],
    ["after a held snapshot", between(holdDelay)],
    ["after a failure", between((random) => retryDelay(1, random))],
    ["after many", between((random) => retryDelay(20, random))],
    ["a flow, from its row to the end of its session", `${String(FLOW_LIFETIME_MS / 60_000)} min`],
    ["a result, from the grant on", `${String(CONVERGE_MS / 60_000)} min`],
  ]);
});

function errorOf<C extends keyof ErrorDetails>(code: C, details: ErrorDetails[C]): RemoteConnectorError {
  return new RemoteConnectorError(code, { message: "no", details });
}
