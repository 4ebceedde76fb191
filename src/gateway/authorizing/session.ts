/** Where an authorization session stands, in the words of the contract. */
export type SessionStatus = "AWAITING_USER" | "CANCELED" | "CREATED" | "FAILED" | "PROCESSING" | "SUCCEEDED";

/** What the account has to do next. */
export type NextAction = { readonly type: "redirect"; readonly url: string } | { readonly type: "submit_secret" };

/** An account's attempt to authorize a connector. */
export interface AuthorizationSession {
  readonly sessionId: string;
  readonly accountId: string;
  readonly connectorId: string;
  /** The version that the session was begun for. */
  readonly connectorVersion: string;
  /** With the account it names the session for who asks again. */
  readonly clientRequestId: string;
  readonly status: SessionStatus;
  /** Present exactly when `FAILED`. */
  readonly errorCode: string | undefined;
  /** Present exactly when `SUCCEEDED`. */
  readonly resultConnectionId: string | undefined;
  /** Present exactly when `AWAITING_USER`. */
  readonly nextAction: NextAction | undefined;
  /** The connection is being made: `PROCESSING`, and too late to cancel. */
  readonly isSettling: boolean;
  /** By the gateway's clock. */
  readonly begunAtMs: number;
  /** By the gateway's clock; present exactly when it is over. */
  readonly endedAtMs: number | undefined;
}

/** What can happen to a session. */
export type SessionEvent =
  /** The account's turn. */
  | { readonly kind: "prompt"; readonly nextAction: NextAction }
  /** The account did its part. */
  | { readonly kind: "take" }
  /** The provider took it: the connection is made now. */
  | { readonly kind: "settle" }
  | { readonly kind: "succeed"; readonly connectionId: string }
  | { readonly kind: "fail"; readonly errorCode: string }
  | { readonly kind: "cancel" }
  /** Its time is over. */
  | { readonly kind: "expire" };

/** The code of a session whose time ran out. */
export const SESSION_TIMEOUT = "connector_authorization_timeout";

/** A session as it begins. Pure. */
export function newSession(
  request: Pick<AuthorizationSession, "accountId" | "clientRequestId" | "connectorId" | "connectorVersion">,
  sessionId: string,
  begunAtMs: number,
): AuthorizationSession {
  return {
    sessionId,
    accountId: request.accountId,
    connectorId: request.connectorId,
    connectorVersion: request.connectorVersion,
    clientRequestId: request.clientRequestId,
    begunAtMs,
    status: "CREATED",
    errorCode: undefined,
    resultConnectionId: undefined,
    nextAction: undefined,
    isSettling: false,
    endedAtMs: undefined,
  };
}

/** Whether a session is over. What is over stays as it is. */
export function isOver({ status }: Pick<AuthorizationSession, "status">): boolean {
  return status === "SUCCEEDED" || status === "FAILED" || status === "CANCELED";
}

/**
 * The session after an event, or `undefined` when the event comes too late or too early. Pure.
 *
 * `CREATED` → `AWAITING_USER` → `PROCESSING` → `SUCCEEDED`. From each of the first three it can fail, be cancelled and
 * expire; once the connection is being made it can only succeed or fail, so that no connection comes of a session that was
 * cancelled.
 */
export function advanceSession(
  session: AuthorizationSession,
  event: SessionEvent,
  nowMs: number,
): AuthorizationSession | undefined {
  if (isOver(session)) return undefined;
  const { isSettling, status } = session;
  switch (event.kind) {
    case "prompt":
      return status === "CREATED" ? { ...session, status: "AWAITING_USER", nextAction: event.nextAction } : undefined;
    case "take":
      return status === "AWAITING_USER" ? { ...session, status: "PROCESSING", nextAction: undefined } : undefined;
    case "settle":
      return status === "PROCESSING" && !isSettling ? { ...session, isSettling: true } : undefined;
    case "succeed":
      if (!isSettling) return undefined;
      return { ...over(session, nowMs), status: "SUCCEEDED", resultConnectionId: event.connectionId };
    case "fail":
      return { ...over(session, nowMs), status: "FAILED", errorCode: event.errorCode };
    case "cancel":
      return isSettling ? undefined : { ...over(session, nowMs), status: "CANCELED" };
    case "expire":
      return isSettling ? undefined : { ...over(session, nowMs), status: "FAILED", errorCode: SESSION_TIMEOUT };
  }
}

function over(session: AuthorizationSession, endedAtMs: number): AuthorizationSession {
  return { ...session, nextAction: undefined, isSettling: false, endedAtMs };
}

/** The session as the contract writes it. Members without a value are left out. */
export function encodeSession(session: AuthorizationSession): string {
  const { connectorVersion, errorCode, nextAction, resultConnectionId, sessionId, status } = session;
  return JSON.stringify({
    session: { sessionId, connectorRevision: connectorVersion, status, errorCode, resultConnectionId, nextAction },
  });
}
