import type { ApprovalGate, ApprovalQuestion, ApprovalVerdict } from "../aggregation/index.js";
import type { Binding, Continuation, ForwardedRequest } from "../local-server/index.js";
import { continuationRefused } from "../rounds/index.js";
import { approvalDenied, approvalRequired } from "./approval-errors.js";
import { askingResult, decisionAmong, showsForms } from "./approval-form.js";
import type { ApprovalsConfig } from "./approval-options.js";
import { aboutOf, type ApprovalState, encodeApprovalState, parseApprovalState } from "./approval-state.js";
import { ApprovedRounds } from "./approved-rounds.js";
import { BindingIds } from "./binding-ids.js";
import type { OperatorApprovals } from "./ports.js";
import { type Asked, type BoundQuestion, WaitingCalls } from "./waiting-calls.js";

/** A question, and the digest of what an approval of it is bound to. */
interface Question extends BoundQuestion {
  readonly about: string;
}

/** Rounds of approved calls of one agent that can be gone on with. */
const MAX_ROUNDS = 64;
const ROUND_MS = 600_000;

/**
 * Decides on calls of tools that ask. Where the host has a hook, that decides and nobody else; else an operator, where the host has one; else,
 * for a binding that was made so and an agent that shows forms, a person whom the agent asks.
 *
 * Everything is bounded and has an end. Once closed, it denies.
 */
export class CallApprovals implements ApprovalGate {
  readonly #config: ApprovalsConfig;
  readonly #waiting: WaitingCalls;
  readonly #rounds: ApprovedRounds;
  readonly #bindingIds = new BindingIds();
  #turns = 0;
  #isClosed = false;

  constructor(config: ApprovalsConfig) {
    this.#config = config;
    this.#waiting = new WaitingCalls(config);
    this.#rounds = new ApprovedRounds({ clock: config.clock, maxRounds: MAX_ROUNDS, roundMs: ROUND_MS });
  }

  /** For who decides in the host's place. */
  get operator(): OperatorApprovals {
    return this.#waiting.operator;
  }

  /** Calls that wait for a decision, whoever is asked; and rounds that approved ones can go on with. */
  get counts(): { readonly pending: number; readonly rounds: number } {
    return { pending: this.#waiting.size, rounds: this.#rounds.size };
  }

  isOpenTo({ approvals }: Binding): boolean {
    const { approve, operatorApprovals } = this.#config;
    return approve !== undefined || operatorApprovals || approvals === "agent";
  }

  goesOn({ input }: ForwardedRequest): boolean {
    const state = input?.continuation?.state;
    if (state === undefined) return false;
    const opened = this.#config.sealer.open(state);
    if (opened.kind === "past") return opened.of === "approval";
    return opened.kind === "opened" && opened.content.kind === "approval";
  }

  async pass(question: ApprovalQuestion): Promise<ApprovalVerdict> {
    const { binding, call, connectorKey } = question;
    if (this.#isClosed || call.signal.aborted) throw approvalDenied(connectorKey, "withdrawn");
    const holder = { bindingId: this.#bindingIds.of(binding), login: this.#config.loginOf(binding) };
    const bound: Question = { question, ...holder, about: aboutOf(question, holder) };
    const continuation = call.input?.continuation;
    if (continuation !== undefined) return this.#goOn(bound, continuation);
    const asked = this.#whoIsAsked(question);
    if (asked === undefined) throw approvalRequired(connectorKey);
    const { approvalTimeoutMs, clock } = this.#config;
    // The call ends with its being asked, and its deadline with it.
    if (asked === "result") return this.#askByResult(bound, approvalTimeoutMs);
    const expiresAt = this.#in(approvalTimeoutMs);
    await this.#waiting.ask(bound, asked, Math.max(1, Math.min(approvalTimeoutMs, call.deadline - clock.now())));
    if (this.#isClosed || this.#config.loginOf(binding) !== bound.login)
      throw approvalDenied(connectorKey, "withdrawn");
    // A clock can be late with what it was to do.
    if (clock.now() >= expiresAt) throw approvalDenied(connectorKey, "expired");
    return this.#approved(bound, undefined, expiresAt);
  }

  /** Denies what waits and stands no more: of one connector, or of all. For when permissions, routes or sign-ins have changed. */
  recheck(connectorKey?: string): void {
    const { loginOf } = this.#config;
    this.#waiting.withdraw(({ question, login }) => {
      if (connectorKey !== undefined && question.connectorKey !== connectorKey) return false;
      return login !== loginOf(question.binding) || !question.stillStands();
    });
  }

  /** Denies whatever waits for a binding that is over, and forgets its rounds. */
  endOf(binding: Binding): void {
    const ended = this.#bindingIds.of(binding);
    this.#waiting.withdraw(({ bindingId }) => bindingId === ended);
    this.#rounds.endOf(ended);
  }

  /** Denies whatever waits or comes. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.close();
    this.#rounds.close();
  }

  /** `undefined`: nobody. */
  #whoIsAsked({ binding, call }: ApprovalQuestion): Asked | undefined {
    const { approve, operatorApprovals } = this.#config;
    if (approve !== undefined) return "hook";
    if (operatorApprovals) return "operator";
    const { input } = call;
    if (binding.approvals !== "agent" || input === undefined || !showsForms(input.capabilities)) return undefined;
    return input.ask === undefined ? "result" : "stream";
  }

  #goOn(bound: Question, { responses, state }: Continuation): ApprovalVerdict {
    const { question, bindingId } = bound;
    const { connectorKey } = question;
    const known = this.#open(state);
    if (known.about !== bound.about) throw continuationRefused("mismatch", "not_sent");
    const leftMs = known.expiresAt - this.#config.clock.now();
    if (known.phase === "round") {
      const fate = leftMs > 0 ? this.#rounds.take(bindingId, known.turn) : "forgotten";
      if (fate !== "taken") throw continuationRefused(fate === "used" ? "used" : "expired", "not_sent");
      return this.#approved(bound, { responses, state: known.state }, undefined);
    }
    // What an agent says counts only where it was to be asked.
    if (this.#whoIsAsked(question) !== "result") throw continuationRefused("mismatch", "not_sent");
    if (leftMs <= 0) throw approvalDenied(connectorKey, "expired");
    const claim = this.#waiting.claim(known.callId, known.turn);
    if (claim === "withdrawn") throw approvalDenied(connectorKey, "withdrawn");
    if (claim === "used") throw continuationRefused("used", "not_sent");
    const decision = decisionAmong(responses);
    // Nothing was answered: it is asked again, and gets no more time by it.
    if (decision === undefined) return this.#askByResult(bound, leftMs);
    if (decision === "deny") throw approvalDenied(connectorKey, "denied");
    return this.#approved(bound, undefined, known.expiresAt);
  }

  /** What a state says that an agent gave. Throws `continuation_refused`. */
  #open(state: string | undefined): ApprovalState & { readonly callId: string } {
    if (state === undefined) throw continuationRefused("unknown", "not_sent");
    const opened = this.#config.sealer.open(state);
    if (opened.kind === "past") {
      // What an earlier process held was sent.
      throw continuationRefused("restarted", opened.of === "approval" ? "not_sent" : "unknown");
    }
    // What was changed may have gone on with anything.
    if (opened.kind === "broken") throw continuationRefused("unknown", "unknown");
    if (opened.kind === "foreign") throw continuationRefused("unknown", "not_sent");
    const { kind, callId, payload } = opened.content;
    const known = kind === "approval" ? parseApprovalState(payload) : undefined;
    if (known === undefined) throw continuationRefused("mismatch", "not_sent");
    return { ...known, callId };
  }

  #askByResult(bound: Question, waitMs: number): ApprovalVerdict {
    const turn = this.#nextTurn();
    const request = this.#waiting.askByResult(bound, turn, waitMs);
    const state = this.#seal(request.id, { phase: "asked", about: bound.about, turn, expiresAt: this.#in(waitMs) });
    return { kind: "asks", raw: askingResult(request, state) };
  }

  /** `expiresAt`: by when it has to be used; `undefined`: it was. */
  #approved(
    { about, bindingId }: Question,
    continuation: Continuation | undefined,
    expiresAt: number | undefined,
  ): ApprovalVerdict {
    let isUsed = expiresAt === undefined;
    const use = (): boolean => (isUsed ||= expiresAt !== undefined && this.#config.clock.now() < expiresAt);
    const sealState = (state: string | undefined): string => {
      const turn = this.#nextTurn();
      if (!this.#isClosed) this.#rounds.add(bindingId, turn);
      return this.#seal(this.#config.mintId(), { phase: "round", about, turn, expiresAt: this.#in(ROUND_MS), state });
    };
    return { kind: "approved", continuation, use, sealState };
  }

  #seal(callId: string, state: ApprovalState): string {
    return this.#config.sealer.seal({ kind: "approval", callId, payload: encodeApprovalState(state) });
  }

  #in(milliseconds: number): number {
    return this.#config.clock.now() + milliseconds;
  }

  #nextTurn(): number {
    this.#turns += 1;
    return this.#turns;
  }
}
