import type { JsonObject } from "../../protocol/index.js";
import type { AnswerAsk } from "../../protocol/input/index.js";

/** For which call a connection is wanted. */
export interface CallLeaseRequest {
  /** Whose call it is. A connection on which somebody was asked is never given to another holder. */
  readonly holder: object;
  /** What the caller can be asked, as client capabilities: the server is told of no more than these. */
  readonly capabilities: JsonObject;
  /** Answers what the server asks while the lease lasts. */
  readonly answer: AnswerAsk;
  /** Ends the waiting for a connection. */
  readonly signal: AbortSignal;
}

/** A connection that belongs to one call. */
export interface CallLease<Client> {
  readonly client: Client;
  /** The call is over: whatever the server asks from now on is declined. Idempotent. */
  release(): void;
}

/**
 * The connections of one legacy server over which it may ask. Whom it asks is decided by the call that has the connection, never by
 * what the server writes.
 */
export interface CallLeases<Client> {
  /**
   * A connection for one call, once there is one. When the caller can be asked nothing that the connector is opened for, it is the
   * plain, shared one, unless the server has only one.
   *
   * Rejects (`not_sent`) with the signal's reason, and with what opening a connection rejects with.
   */
  acquire(request: CallLeaseRequest): Promise<CallLease<Client>>;
}
