/** What the control plane says of an authorization session, and what is asked of it. */

/** Whose turn it is in a session, or how it ended. */
export type SessionStatus = "created" | "awaiting_user" | "processing" | "succeeded" | "failed" | "canceled";

/** What the person has to do. */
export type NextAction =
  /** Visit this page. It is https, or http on loopback where the control plane itself is that. Not for logs, and not for disks. */
  | { readonly type: "redirect"; readonly url: string }
  /** Give a secret, such as an API key. */
  | { readonly type: "submit_secret" };

/** One session, as an answer has it. */
export interface AuthorizationSession {
  readonly sessionId: string;
  readonly status: SessionStatus;
  /** Of an open session only. */
  readonly nextAction: NextAction | undefined;
  /** Always there when `succeeded`. */
  readonly connectionId: string | undefined;
  /** Of a failed one, if it says so. Data, never logic. */
  readonly errorCode: string | undefined;
}

/** A session that is asked for. The same `clientRequestId` asks for the same one. */
export interface SessionRequest {
  readonly connectorKey: string;
  readonly connectorVersion: string;
  readonly clientRequestId: string;
  /** Whether another open session of the connector is ended for it. */
  readonly replaces: boolean;
  /** A secret is at hand: a session that does not say what is to be done wants it. */
  readonly hasSecret: boolean;
}

/** Names a session that is known, and the release that it was asked for. */
export interface KnownSession {
  readonly sessionId: string;
  readonly connectorVersion: string;
}

/**
 * The control plane's authorization sessions, for one login. Nothing is ever repeated in here.
 *
 * Every method rejects with the signal's reason when it fires, with `account_not_ready`, `control_plane_error`,
 * `invalid_session` or `redirect_refused` after an answer, and with what the transport rejects with.
 */
export interface FlowSessions {
  begin(request: SessionRequest, signal: AbortSignal): Promise<AuthorizationSession>;
  /** Gives the secret, whose owner wipes it. 1 to 16,384 bytes of UTF-8. */
  complete(session: KnownSession, secret: Uint8Array, signal: AbortSignal): Promise<AuthorizationSession>;
  observe(session: KnownSession, signal: AbortSignal): Promise<AuthorizationSession>;
  /** Ends a session; one that has ended, or that nobody knows, is no failure. */
  end(sessionId: string, signal: AbortSignal): Promise<void>;
  /** Takes the account's authorization of a connector away. What is not there is no failure. */
  disconnect(connectorKey: string, signal: AbortSignal): Promise<void>;
}

/** Whether a session is not over. */
export function isOpen({ status }: AuthorizationSession): boolean {
  return status === "created" || status === "awaiting_user" || status === "processing";
}
