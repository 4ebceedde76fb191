import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import { type AnswerAsk, readAskedInput } from "../../protocol/input/index.js";
import type { Clock } from "../../transport/index.js";
import type { Binding, ForwardedRequest, UnmadeRequest } from "../local-server/index.js";
import {
  continuationRefused,
  HeldCalls,
  type HeldUpstream,
  refuseUndeclared,
  type StateSealer,
} from "../rounds/index.js";
import type { HeldCallLimits, Round, SealedContent } from "../rounds/index.js";
import { askingAnswer } from "./asking-answers.js";
import { type AskedAgent, callInRounds, requireDeclared } from "./asking-rounds.js";
import { type AskingPlan, classifyState, decideAsking, openedCapabilities } from "./decide-asking.js";
import { overLease, withRealSignal } from "./leased-request.js";
import { explainUnmade } from "./not-made.js";
import type { Reach } from "./ports.js";
import type { RouteAnswer, RouteCaller, RoutedRequest } from "./route-caller.js";

export interface AskingCallerOptions {
  readonly caller: RouteCaller;
  readonly reach: Pick<Reach, "describe">;
  readonly clock: Clock;
  readonly sealer: StateSealer;
  readonly heldCalls?: HeldCallLimits | undefined;
  readonly maxInputRounds: number;
}

/** Makes requests over routes, and carries what their servers ask for in the midst of them to the agents that made them. */
export class AskingCaller {
  readonly #options: AskingCallerOptions;
  readonly #held: HeldCalls<RouteAnswer>;

  /** Throws `invalid_options`. */
  constructor(options: AskingCallerOptions) {
    this.#options = options;
    const { clock, heldCalls: limits, sealer } = options;
    this.#held = new HeldCalls({ clock, sealer, limits, sizeOf: ({ raw }) => raw.byteLength });
  }

  /** Requests whose agents were asked by a result, and that have not been told the end. */
  get heldCount(): number {
    return this.#held.size;
  }

  /** Whether a request goes on with one that waits at its server: it was decided on when that was made. */
  isHeld(request: ForwardedRequest): boolean {
    const state = request.input?.continuation?.state;
    if (state === undefined) return false;
    const opened = this.#options.sealer.open(state);
    return opened.kind === "past" ? opened.of === "held" : opened.kind === "opened" && opened.content.kind === "held";
  }

  /** What a request fails with that could not be made, and the verdict on it. */
  unmade(request: ForwardedRequest, error: unknown): UnmadeRequest {
    const state = request.input?.continuation?.state;
    return explainUnmade(state === undefined ? undefined : this.#options.sealer.open(state), error);
  }

  /**
   * Makes a request, or goes on with one that waits at its server. An answer of the type `input_required` is one of the request's server,
   * or of the host for a server that asks in the midst of a call, which waits for the agent then.
   *
   * Rejects as {@link RouteCaller.call} does; with `continuation_refused` for a state that nothing goes on with; as {@link callInRounds}
   * does where the agent is asked on its stream; and with `limit_exceeded` when too many requests wait.
   */
  call<T extends JsonObject>(routed: RoutedRequest<T>): Promise<RouteAnswer> {
    const { request, route } = routed;
    const { client } = route;
    const { input } = request;
    if (input === undefined && client.leases === undefined) return this.#options.caller.call(routed);
    const state = input?.continuation?.state;
    if (state !== undefined) {
      const verdict = classifyState(this.#options.sealer.open(state));
      if (verdict.kind === "refused") return Promise.reject(continuationRefused(verdict.reason, verdict.delivery));
      if (verdict.kind === "held") return this.#resume(routed, verdict.content);
    }
    const plan = decideAsking({
      subject: routed.subject,
      input,
      openedFor: this.#openedFor(routed),
      era: client.era ?? "modern",
      hasLeases: client.leases !== undefined,
    });
    return this.#callAs(plan, routed);
  }

  /** Ends what is held for an agent session that is over. */
  endBinding(binding: Binding): void {
    this.#held.endBinding(binding);
  }

  /** Ends what is held, and what can be, and resolves once it is over at its servers. Nothing can be held any more. */
  close(): Promise<void> {
    return this.#held.close();
  }

  #callAs<T extends JsonObject>(plan: AskingPlan, routed: RoutedRequest<T>): Promise<RouteAnswer> {
    const { caller } = this.#options;
    switch (plan.kind) {
      case "plain":
        return caller.call(routed);
      case "leased":
        return caller.call(leased(routed, {}, askNobody));
      case "handed_on":
        return this.#handOn(routed, plan.capabilities);
      case "asked":
        return callInRounds(this.#options, routed, plan);
      case "relayed":
        return this.#relay(routed, plan);
      case "held":
        return this.#hold(routed, plan.capabilities);
      case "refused":
        return Promise.reject(continuationRefused("unknown", "not_sent"));
    }
  }

  /** The server's answer as it is, unless it asks for what it was not told that it may. */
  async #handOn<T extends JsonObject>(routed: RoutedRequest<T>, capabilities: JsonObject): Promise<RouteAnswer> {
    const continuation = routed.request.input?.continuation;
    const asking: RoutedRequest<T>["asking"] = {
      capabilities,
      input: "return",
      inputResponses: continuation?.responses,
      requestState: continuation?.state,
    };
    const answer = await this.#options.caller.call({ ...routed, asking });
    if (answer.resultType === "input_required") requireDeclared(readAskedInput(answer.result).asks, capabilities);
    return answer;
  }

  #relay<T extends JsonObject>(routed: RoutedRequest<T>, { capabilities, ask }: AskedAgent): Promise<RouteAnswer> {
    let asking = 0;
    const answer: AnswerAsk = async (one, signal) => {
      const refusal = refuseUndeclared(one, capabilities);
      if (refusal !== undefined) return refusal;
      asking += 1;
      try {
        return await ask(one, signal);
      } finally {
        asking -= 1;
      }
    };
    return this.#options.caller.call({ ...leased(routed, capabilities, answer), isHeld: () => asking > 0 });
  }

  async #hold<T extends JsonObject>(routed: RoutedRequest<T>, capabilities: JsonObject): Promise<RouteAnswer> {
    const { request, subject } = routed;
    const { binding } = subject;
    // Nobody could go on with it.
    if (binding === undefined) return this.#options.caller.call(leased(routed, {}, askNobody));
    const round = await this.#held.begin({ binding, digest: digestOf(routed) }, { request, capabilities }, (upstream) =>
      this.#options.caller.call({
        ...leased(routed, capabilities, upstream.answer),
        request: requestOf(request, upstream),
        isHeld: () => upstream.isHeld(),
      }),
    );
    return answerOf(round, routed);
  }

  async #resume<T extends JsonObject>(routed: RoutedRequest<T>, content: SealedContent): Promise<RouteAnswer> {
    const { request, subject } = routed;
    const { binding } = subject;
    const { capabilities = {}, continuation } = request.input ?? {};
    if (binding === undefined) throw continuationRefused("mismatch", "unknown");
    const responses = continuation?.responses?.value;
    const round = await this.#held.resume(
      content,
      { binding, digest: digestOf(routed) },
      { request, capabilities: openedCapabilities(capabilities, this.#openedFor(routed)) },
      isJsonObject(responses) ? responses : {},
    );
    return answerOf(round, routed);
  }

  #openedFor({ route }: Pick<RoutedRequest<JsonObject>, "route">): readonly string[] {
    return this.#options.reach.describe?.(route.connectorKey)?.capabilities ?? NOTHING;
  }
}

const NOTHING: readonly string[] = [];

/** The request, over a connection on which `answer` answers for it. */
function leased<T extends JsonObject>(
  routed: RoutedRequest<T>,
  capabilities: JsonObject,
  answer: AnswerAsk,
): RoutedRequest<T> {
  const request = withRealSignal(routed.request);
  const holder = routed.request.input?.holder ?? routed.subject.binding ?? request;
  return { ...routed, request, make: overLease(routed.make, { holder, capabilities, answer }) };
}

/** What a held call takes along of the agent's first request; the rest is of whichever request it is made for just then. */
function requestOf(request: ForwardedRequest, upstream: HeldUpstream): ForwardedRequest {
  const { signal, abort } = upstream;
  return {
    meta: request.meta,
    logLevel: request.logLevel,
    signal,
    abort,
    // While the agent makes no request, none has a deadline.
    deadline: Infinity,
    onProgress: request.onProgress && ((progress) => upstream.onProgress(progress)),
    onNotification: request.onNotification && ((notification) => upstream.onNotification(notification)),
  };
}

function answerOf(round: Round<RouteAnswer>, { route }: Pick<RouteAnswer, "route">): RouteAnswer {
  return round.kind === "answer" ? round.answer : askingAnswer(round.raw, route);
}

/**
 * The same for requests that are one, made again. The route may have a successor meanwhile: what waits goes on over the one that it was
 * sent over, and ends with it.
 */
function digestOf({ route, subject }: Pick<RoutedRequest<JsonObject>, "route" | "subject">): string {
  const { connectorKey, scope, scopeEpoch } = route;
  const { kind, exposedName, nativeName, argumentsText = null } = subject;
  const facts = [kind, connectorKey, scope, scopeEpoch, exposedName, nativeName, argumentsText];
  return createHash("sha256").update(JSON.stringify(facts), "utf8").digest("base64url");
}

/** Asked nothing, since no capability is declared; a server that asks all the same gets this. */
const askNobody: AnswerAsk = (ask) =>
  Promise.resolve(refuseUndeclared(ask, {}) ?? { error: { code: -32_601, message: "Method not found" } });
