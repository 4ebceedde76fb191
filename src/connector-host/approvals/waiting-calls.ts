import { RemoteConnectorError } from "../../errors.js";
import type { ApprovalQuestion } from "../aggregation/index.js";
import { approvalDenied } from "./approval-errors.js";
import { approvalForm, decisionIn } from "./approval-form.js";
import type { ApprovalsConfig } from "./approval-options.js";
import { describeRequest } from "./describe-request.js";
import { type PendingApproval, PendingApprovals } from "./pending-approvals.js";
import type { ApprovalDecision, ApprovalRequest, OperatorApprovals } from "./ports.js";

/** Who is asked: the host's hook, an operator, or a person by a vouched agent, over its stream or by a result. */
export type Asked = "hook" | "operator" | "stream" | "result";

/** A question, and whose it is. */
export interface BoundQuestion {
  readonly question: ApprovalQuestion;
  readonly bindingId: number;
  /** The sign-in that it was made under. */
  readonly login: string;
}

/** A call that waits for a decision. */
interface WaitingCall extends PendingApproval, BoundQuestion {
  readonly request: ApprovalRequest;
  readonly asked: Asked;
  /** Of who asks by a result: which of the states that were given for it is good. */
  readonly turn: number | undefined;
  readonly onDecided: (decision: ApprovalDecision) => void;
}

/** What becomes of a state by which an agent answers. */
export type Claim = "claimed" | "used" | "withdrawn";

type WaitingCallsConfig = Omit<ApprovalsConfig, "sealer">;

/** Calls that were withdrawn and whose agents may still come back, so that they are told so. */
const MAX_WITHDRAWN = 256;

/** The calls that wait for a decision: bounded, each with an end of its own, and each decided once. */
export class WaitingCalls {
  readonly operator: OperatorApprovals;
  readonly #config: WaitingCallsConfig;
  readonly #pending: PendingApprovals<WaitingCall>;
  readonly #withdrawn = new Set<string>();
  readonly #listeners = new Set<() => void>();

  constructor(config: WaitingCallsConfig) {
    const { clock, maxPendingApprovals, maxAllPendingApprovals } = config;
    this.#config = config;
    this.#pending = new PendingApprovals({
      clock,
      maxPending: maxPendingApprovals,
      maxAllPending: maxAllPendingApprovals,
    });
    this.operator = {
      pending: () =>
        [...this.#pending.list()].filter(({ asked }) => asked === "operator").map(({ request }) => request),
      decide: (id, decision) => this.#decide(id, decision),
      onChange: (listener) => {
        const own = (): void => listener();
        this.#listeners.add(own);
        return () => void this.#listeners.delete(own);
      },
    };
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Has somebody asked. Resolves when the call was approved. Rejects with `approval_denied` and `limit_exceeded` (both `not_sent`). */
  ask(bound: BoundQuestion, asked: Exclude<Asked, "result">, waitMs: number): Promise<void> {
    const { connectorKey, call } = bound.question;
    const { signal } = call;
    const over = new AbortController();
    return new Promise<void>((resolve, reject) => {
      const end = (settle: () => void): void => {
        signal.removeEventListener("abort", leave);
        over.abort();
        settle();
        this.#tell(asked);
      };
      const waiting = this.#add(bound, {
        asked,
        waitMs,
        turn: undefined,
        onDecided: (decision) =>
          end(decision === "approve" ? resolve : () => reject(approvalDenied(connectorKey, "denied"))),
        onDenied: (reason) => end(() => reject(approvalDenied(connectorKey, reason))),
      });
      const leave = (): void => this.#pending.take(waiting.id)?.onDenied("withdrawn");
      signal.addEventListener("abort", leave, { once: true });
      this.#tell(asked);
      if (asked !== "operator") void this.#hear(waiting, asked, over.signal);
    });
  }

  /** Notes that an agent is asked by a result, whose state has this turn: what it is to show, and under which id. Throws `limit_exceeded`. */
  askByResult(bound: BoundQuestion, turn: number, waitMs: number): ApprovalRequest {
    const { request } = this.#add(bound, {
      asked: "result",
      waitMs,
      turn,
      onDecided: ignore,
      onDenied: (reason) => {
        if (reason === "withdrawn") this.#remember(request.id);
      },
    });
    return request;
  }

  /** An agent answers by a state of this id and turn. One winner: whoever claims it first. */
  claim(id: string, turn: number): Claim {
    if (this.#pending.get(id)?.turn === turn) {
      this.#pending.take(id);
      return "claimed";
    }
    return this.#withdrawn.has(id) ? "withdrawn" : "used";
  }

  /** Denies whatever this holds for. */
  withdraw(isOver: (bound: BoundQuestion) => boolean): void {
    this.#pending.withdraw(isOver);
  }

  /** Denies everything, and tells nobody. */
  close(): void {
    this.#listeners.clear();
    this.#pending.withdraw(() => true);
  }

  /** Asks the hook or the agent, and takes what it says if that is still wanted. Whatever it fails with denies. Never rejects. */
  async #hear(waiting: WaitingCall, asked: "hook" | "stream", signal: AbortSignal): Promise<void> {
    let decision: unknown = "deny";
    try {
      decision = await (asked === "hook" ? this.#config.approve?.(waiting.request, signal) : askAgent(waiting, signal));
    } catch (error) {
      if (asked === "hook" && !signal.aborted) this.#config.onFault(error);
    }
    this.#pending.take(waiting.id)?.onDecided(decision === "approve" ? "approve" : "deny");
  }

  #add(
    bound: BoundQuestion,
    how: Pick<WaitingCall, "asked" | "onDecided" | "onDenied" | "turn" | "waitMs">,
  ): WaitingCall {
    const { mintId, nameOf, wallNow } = this.#config;
    const { connectorKey } = bound.question;
    const id = mintId();
    const requestedAt = wallNow();
    const expiresAt = requestedAt + how.waitMs;
    const request = describeRequest(bound.question, {
      id,
      connectorName: nameOf(connectorKey),
      requestedAt,
      expiresAt,
    });
    const waiting: WaitingCall = { ...bound, ...how, id, connectorKey, request };
    this.#pending.add(waiting);
    return waiting;
  }

  #decide(id: string, decision: ApprovalDecision): boolean {
    if (decision !== "approve" && decision !== "deny") throw noDecision();
    if (this.#pending.get(id)?.asked !== "operator") return false;
    this.#pending.take(id)?.onDecided(decision);
    return true;
  }

  #remember(id: string): void {
    this.#withdrawn.add(id);
    for (const oldest of this.#withdrawn) {
      if (this.#withdrawn.size <= MAX_WITHDRAWN) return;
      this.#withdrawn.delete(oldest);
    }
  }

  #tell(asked: Asked): void {
    if (asked !== "operator") return;
    // A copy: one that listens anew when it is told is told next time.
    const listeners = [...this.#listeners];
    for (const listener of listeners) {
      try {
        listener();
      } catch (error) {
        this.#config.onFault(error);
      }
    }
  }
}

async function askAgent({ question, request }: WaitingCall, signal: AbortSignal): Promise<ApprovalDecision> {
  const ask = { method: "elicitation/create", params: approvalForm(request) };
  const answer = await question.call.input?.ask?.(ask, signal);
  return answer !== undefined && "result" in answer ? decisionIn(answer.result) : "deny";
}

function noDecision(): RemoteConnectorError<"invalid_argument"> {
  const reason = "must be approve or deny";
  return new RemoteConnectorError("invalid_argument", {
    message: `decision ${reason}.`,
    details: { argument: "decision", reason },
  });
}

function ignore(): void {}
