import type { FlowReason, FlowRow } from "../ports.js";
import { type AuthorizationSession, isOpen } from "./session.js";

/** How long a session may take from its row to its end, and its connection to be shown after that. */
export const FLOW_LIFETIME_MS = 600_000;

/** What came of a flow, or to it. */
export type FlowNews =
  /** An answer about its session. `secretLost`: the secret that it would wait for can't come any more. */
  | { readonly kind: "session"; readonly session: AuthorizationSession; readonly secretLost: boolean }
  /** A request failed for good. */
  | { readonly kind: "refused"; readonly reason: FlowReason; readonly errorCode: string | undefined }
  /** The account's row counts as connected, with this connection. `isRefetched`: by a fetch that began after the grant. */
  | { readonly kind: "shown"; readonly connectionId: string | undefined; readonly isRefetched: boolean }
  /** It is not wanted any more. */
  | { readonly kind: "cancel"; readonly reason: "cancelled" | "replaced" | "disconnected" }
  /** Its session was ended, or is left to end by itself. */
  | { readonly kind: "ended" }
  /** Time has passed. `overdue`: more than enough of it, whatever the wall says. */
  | { readonly kind: "time"; readonly overdue: boolean };

/** Whether a flow is over. Nothing changes it any more. */
export function isFinished({ state }: Pick<FlowRow, "state">): boolean {
  return state === "connected" || state === "failed" || state === "cancelled";
}

/**
 * Decides what becomes of a flow. Pure. Answers the row itself when nothing does.
 *
 * A flow that ends without its session's end becomes `cancelling` first, so that a crash does not leave the session open. What
 * the snapshot shows completes it without another look at the session, unless that connection was there before.
 */
export function decideFlow(row: FlowRow, news: FlowNews, now: number): FlowRow {
  const next = isFinished(row) ? row : decide(row, news, now);
  return next === row ? row : { ...next, updatedAt: now };
}

function decide(row: FlowRow, news: FlowNews, now: number): FlowRow {
  switch (news.kind) {
    case "session":
      return isUndecided(row) ? bySession(row, news.session, news.secretLost, now) : row;
    case "refused":
      if (row.state === "cancelling") return row;
      return row.state === "authorized"
        ? over(row, news.reason, news.errorCode)
        : leave(row, news.reason, news.errorCode);
    case "shown":
      return byProjection(row, news.connectionId, news.isRefetched);
    case "cancel":
      return byCancellation(row, news.reason);
    case "ended":
      return row.state === "cancelling" ? over(row, row.reason ?? "cancelled", row.errorCode) : row;
    case "time":
      return byTime(row, news.overdue, now);
  }
}

function isUndecided({ state }: FlowRow): boolean {
  return state === "starting" || state === "waiting";
}

function bySession(row: FlowRow, session: AuthorizationSession, secretLost: boolean, now: number): FlowRow {
  const { status, connectionId, errorCode } = session;
  const sessionId = row.sessionId ?? session.sessionId;
  const known = { ...row, sessionId };
  if (status === "succeeded") return { ...known, state: "authorized", connectionId };
  if (status === "failed") return over(known, "provider_failed", errorCode);
  if (status === "canceled") return over(known, "session_canceled", undefined);
  const nextAction = session.nextAction?.type ?? row.nextAction;
  const waiting: FlowRow = { ...known, nextAction, state: "waiting" };
  if (secretLost && status !== "processing" && nextAction === "submit_secret") return leave(waiting, "secret_lost");
  if (isOpen(session) && isExpired(row, now)) return leave(waiting, "expired");
  const isSame = row.state === "waiting" && row.sessionId === sessionId && row.nextAction === nextAction;
  return isSame ? row : waiting;
}

function byProjection(row: FlowRow, connectionId: string | undefined, isRefetched: boolean): FlowRow {
  if (connectionId === undefined) return row;
  const isNew = connectionId !== row.priorConnectionId;
  // One that was there before, and was granted anew, has another version now, which its row need not have yet.
  const isResult =
    row.state === "authorized"
      ? connectionId === row.connectionId && (isNew || isRefetched)
      : isUndecided(row) && isNew;
  return isResult ? { ...row, state: "connected", connectionId } : row;
}

function byCancellation(row: FlowRow, reason: "cancelled" | "replaced" | "disconnected"): FlowRow {
  if (isUndecided(row)) return leave(row, reason);
  // What was granted can't be taken back by a cancellation; but what comes after it goes over it.
  return row.state === "authorized" && reason !== "cancelled" ? over(row, reason, undefined) : row;
}

function byTime(row: FlowRow, overdue: boolean, now: number): FlowRow {
  switch (row.state) {
    case "starting":
    case "waiting":
      return overdue || isExpired(row, now) ? leave(row, "expired") : row;
    case "authorized":
      return overdue || now - row.updatedAt >= FLOW_LIFETIME_MS ? over(row, "connection_not_shown", undefined) : row;
    case "cancelling":
      return overdue || now - row.updatedAt >= FLOW_LIFETIME_MS
        ? over(row, row.reason ?? "cancelled", row.errorCode)
        : row;
    case "connected":
    case "failed":
    case "cancelled":
      return row;
  }
}

function isExpired({ createdAt }: FlowRow, now: number): boolean {
  return now - createdAt >= FLOW_LIFETIME_MS;
}

/** Over for us; its session, if there is one, is still to be ended. */
function leave(row: FlowRow, reason: FlowReason, errorCode?: string): FlowRow {
  return row.sessionId === undefined
    ? over(row, reason, errorCode)
    : { ...row, state: "cancelling", reason, errorCode };
}

function over(row: FlowRow, reason: FlowReason, errorCode: string | undefined): FlowRow {
  const isWanted = reason === "cancelled" || reason === "replaced" || reason === "disconnected";
  return { ...row, state: isWanted ? "cancelled" : "failed", reason, errorCode };
}
