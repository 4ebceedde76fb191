/** What somebody says of a call. */
export type ApprovalDecision = "approve" | "deny";

/**
 * A call that waits for a decision, as it may be shown: what an agent or a server wrote is in quotes, bounded, on one line, and with an escape
 * in the place of every character that can't be seen.
 */
export interface ApprovalRequest {
  /** By which it is decided. It was never given before. */
  readonly id: string;
  readonly connectorKey: string;
  /** What the connector is called, in quotes. */
  readonly connectorName: string;
  /** The name that its server has for the tool, in quotes. */
  readonly toolName: string;
  /** The title that its server has for the tool, in quotes; `undefined` for none. */
  readonly toolTitle: string | undefined;
  /** For programs that decide by name: the name that its server has for the tool, exactly. It is not to be shown. */
  readonly nativeName: string;
  /** The beginning of the arguments, as JSON; `{}` where the agent gave none. */
  readonly argumentsText: string;
  /** Bytes of the arguments in all. */
  readonly argumentsBytes: number;
  /** Bytes of the arguments that are not in `argumentsText`. */
  readonly omittedBytes: number;
  /** Whose call it is, each in quotes. */
  readonly workspaceId: string;
  readonly agentSessionId: string;
  /** The account that the agent acts for, in quotes; `undefined`: it acts for none. */
  readonly accountId: string | undefined;
  /** Epoch milliseconds. */
  readonly requestedAt: number;
  /** Epoch milliseconds. A call that nobody decided on by then is denied. */
  readonly expiresAt: number;
}

/**
 * Decides on a call. Whatever is not `approve`, an error included, denies it; so does the time that passes. `signal` fires when the
 * decision is no longer wanted.
 */
export type Approve = (
  request: ApprovalRequest,
  signal: AbortSignal,
) => ApprovalDecision | PromiseLike<ApprovalDecision>;

/** The calls that wait for an operator. */
export interface OperatorApprovals {
  /** In the order in which they came. Always empty on a host that has no operator's approvals. */
  pending(): readonly ApprovalRequest[];
  /**
   * Decides on one; whether it still waited. Throws `invalid_argument` for what is neither `approve` nor `deny`: it waits on then.
   */
  decide(id: string, decision: ApprovalDecision): boolean;
  /** Calls `listener`, synchronously, whenever others wait than before, until the returned function is called. */
  onChange(listener: () => void): () => void;
}
