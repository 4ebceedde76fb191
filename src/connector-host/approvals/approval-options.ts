import { countOption, durationOption, functionOption, refuseOption } from "../../options.js";
import type { Clock } from "../../transport/index.js";
import type { Binding } from "../local-server/index.js";
import type { StateSealer } from "../rounds/index.js";
import type { Approve } from "./ports.js";

/** Who decides on calls that ask, and how long they wait. */
export interface ApprovalOptions {
  /** Decides on each call of a tool whose permission is `ask`. Where there is one, nobody else is asked. */
  readonly approve?: Approve | undefined;
  /** Whether such calls wait for a decision by `host.approvals`. No agent is asked then. Default false. */
  readonly operatorApprovals?: boolean | undefined;
  /** How long a call waits for its decision, and how old an approval may be when it is first used. Default, and at most, 300,000 ms. */
  readonly approvalTimeoutMs?: number | undefined;
  /** Calls of one agent session that wait for a decision. Default 8. */
  readonly maxPendingApprovals?: number | undefined;
  /** Calls of all agents that wait for a decision. Default 256. */
  readonly maxAllPendingApprovals?: number | undefined;
}

/** {@link ApprovalOptions} with nothing left open. */
export interface ApprovalSettings {
  readonly approve: Approve | undefined;
  readonly operatorApprovals: boolean;
  readonly approvalTimeoutMs: number;
  readonly maxPendingApprovals: number;
  readonly maxAllPendingApprovals: number;
}

const LONGEST_MS = 300_000;

/** Applies the defaults; other keys are not looked at. Throws `invalid_options`. */
export function resolveApprovalOptions(options: ApprovalOptions): ApprovalSettings {
  const { approve, operatorApprovals = false } = options;
  if (typeof operatorApprovals !== "boolean") refuseOption("operatorApprovals", "must be true or false");
  const approvalTimeoutMs = durationOption("approvalTimeoutMs", options.approvalTimeoutMs, LONGEST_MS);
  if (approvalTimeoutMs > LONGEST_MS) refuseOption("approvalTimeoutMs", `must be at most ${String(LONGEST_MS)}`);
  return {
    approve: functionOption("approve", approve, undefined),
    operatorApprovals,
    approvalTimeoutMs,
    maxPendingApprovals: countOption("maxPendingApprovals", options.maxPendingApprovals, 8),
    maxAllPendingApprovals: countOption("maxAllPendingApprovals", options.maxAllPendingApprovals, 256),
  };
}

/** What approvals need of the host beside its settings. */
export interface ApprovalsConfig extends ApprovalSettings {
  readonly clock: Clock;
  /** Epoch milliseconds, for what people are shown. */
  readonly wallNow: () => number;
  readonly sealer: StateSealer;
  /** An id that was never there before: 1 to 64 of A-Z a-z 0-9 _ -. */
  readonly mintId: () => string;
  /** The sign-in that a binding acts under now: another text for each. */
  readonly loginOf: (binding: Binding) => string;
  /** What people call the connector. */
  readonly nameOf: (connectorKey: string) => string;
  /** Told of what the host's own hook and listeners throw. */
  readonly onFault: (error: unknown) => void;
}
