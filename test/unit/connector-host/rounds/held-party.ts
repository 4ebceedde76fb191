import { setMaxListeners } from "node:events";
import type { Binding } from "../../../../src/connector-host/local-server/index.js";
import {
  createStateSealer,
  HeldCalls,
  type HeldCallLimits,
  type HeldUpstream,
  type Round,
  type SealedContent,
} from "../../../../src/connector-host/rounds/index.js";
import type { JsonObject } from "../../../../src/protocol/index.js";
import type { ServerAsk, ServerAskAnswer } from "../../../../src/protocol/input/index.js";
import { FakeClock } from "../../../support/fake-clock.js";

export const FORMS: JsonObject = { elicitation: {} };
export const FORM: ServerAsk = { method: "elicitation/create", params: { message: "Who?", requestedSchema: {} } };

export function bindingOf(agentSessionId: string): Binding {
  return { workspaceId: "w", agentSessionId, invocation: undefined, login: undefined };
}

/** What became of one promise, as far as it is known. */
export interface Watched<T> {
  value?: T;
  error?: unknown;
  isOver: boolean;
}

export function watch<T>(promise: Promise<T>): Watched<T> {
  const watched: Watched<T> = { isOver: false };
  promise.then(
    (value) => Object.assign(watched, { value, isOver: true }),
    (error: unknown) => Object.assign(watched, { error, isOver: true }),
  );
  return watched;
}

/** A call at a server that does what it is told to. It ends when its signal fires, as a client's call does. */
export class ScriptedCall {
  readonly asks: { readonly answer: Watched<ServerAskAnswer>; readonly withdrawal: AbortController }[] = [];
  upstream: HeldUpstream | undefined;
  readonly over: Promise<string>;
  finish: (answer: string) => void = () => undefined;
  fail: (reason: unknown) => void = () => undefined;

  constructor() {
    this.over = new Promise((resolve, reject) => {
      this.finish = resolve;
      this.fail = reject;
    });
  }

  readonly run = (upstream: HeldUpstream): Promise<string> => {
    this.upstream = upstream;
    const { signal } = upstream;
    if (signal.aborted) this.fail(signal.reason);
    else signal.addEventListener("abort", () => this.fail(signal.reason), { once: true });
    return this.over;
  };

  ask(ask: ServerAsk = FORM): Watched<ServerAskAnswer> {
    const withdrawal = new AbortController();
    const answer = watch(this.upstream?.answer(ask, withdrawal.signal) ?? Promise.reject(new Error("not begun")));
    this.asks.push({ answer, withdrawal });
    return answer;
  }
}

/** An agent's request, which can leave. */
export function requestOf(controller = new AbortController()) {
  setMaxListeners(0, controller.signal);
  return { signal: controller.signal, onProgress: undefined, onNotification: undefined };
}

export class HeldParty {
  readonly clock = new FakeClock();
  readonly sealer = createStateSealer({ hostId: "h" });
  readonly calls: HeldCalls<string>;

  constructor(limits: HeldCallLimits = {}) {
    this.calls = new HeldCalls({ clock: this.clock, sealer: this.sealer, limits, sizeOf: (answer) => answer.length });
  }

  begin(binding: Binding, digest = "d", controller?: AbortController, capabilities = FORMS) {
    const call = new ScriptedCall();
    const subject = { binding, digest };
    const round = watch(this.calls.begin(subject, { request: requestOf(controller), capabilities }, call.run));
    return { call, round };
  }

  resume(state: string, binding: Binding, responses: JsonObject, digest = "d", controller?: AbortController) {
    const attached = { request: requestOf(controller), capabilities: FORMS };
    return watch(this.calls.resume(this.opened(state), { binding, digest }, attached, responses));
  }

  opened(state: string): SealedContent {
    const opened = this.sealer.open(state);
    if (opened.kind !== "opened") throw new Error(`a state that is ${opened.kind}`);
    return opened.content;
  }
}

/** What a round asks for, and the state that goes on with it. */
export function askedIn(round: Watched<Round<string>>): {
  readonly keys: readonly string[];
  readonly requests: JsonObject;
  readonly state: string;
} {
  if (round.value?.kind !== "asks") throw new Error(`nothing is asked: ${JSON.stringify(round)}`);
  const result: { readonly inputRequests: JsonObject; readonly requestState: string } = JSON.parse(
    Buffer.from(round.value.raw).toString("utf8"),
  );
  return { keys: Object.keys(result.inputRequests), requests: result.inputRequests, state: result.requestState };
}
