import { recordDelivery, RemoteConnectorError } from "../../errors.js";
import { type JsonObject, plainText } from "../../protocol/index.js";
import {
  type AnswerAsk,
  capabilityOf,
  classifyAsk,
  pauseOfRound,
  readAskedInput,
  type ServerAsk,
  tooManyRounds,
} from "../../protocol/input/index.js";
import type { Clock } from "../../transport/index.js";
import { increasingProgress } from "./increasing-progress.js";
import { withRealSignal } from "./leased-request.js";
import type { RouteAnswer, RouteCaller, RoutedRequest } from "./route-caller.js";

export interface AskingRoundsOptions {
  readonly caller: RouteCaller;
  readonly clock: Clock;
  readonly maxInputRounds: number;
}

/** Whom a server's results ask, and for what at most. */
export interface AskedAgent {
  readonly capabilities: JsonObject;
  readonly ask: AnswerAsk;
}

/**
 * Makes a request, asks the agent for everything that its result asks for, all of it at once, and makes it again, until it has an
 * answer.
 *
 * Rejects as {@link RouteCaller.call} does, and (`answered`) with `limit_exceeded` of `maxInputRounds`, with `input_required` for what
 * the agent did not declare, and with `handler_failed` when the agent has no answer; with the signal's reason while it is asked.
 *
 * Source: 2026-07-28, Multi Round-Trip Requests, Client Requirements.
 */
export function callInRounds<T extends JsonObject>(
  options: AskingRoundsOptions,
  routed: RoutedRequest<T>,
  agent: AskedAgent,
): Promise<RouteAnswer> {
  const { signal } = routed.request;
  let isAsking = false;
  const calling = inRounds(
    options,
    routed,
    async (rounds) => {
      isAsking = true;
      const responses = await rounds;
      isAsking = false;
      return responses;
    },
    agent,
  );
  calling.catch((reason: unknown) => {
    // The last exchange had its answer.
    if (isAsking && reason === signal.reason) recordDelivery(calling, reason, "answered");
  });
  return calling;
}

async function inRounds<T extends JsonObject>(
  { caller, clock, maxInputRounds }: AskingRoundsOptions,
  first: RoutedRequest<T>,
  between: <V>(work: Promise<V>) => Promise<V>,
  { capabilities, ask }: AskedAgent,
): Promise<RouteAnswer> {
  const { signal } = first.request;
  const request = { ...withRealSignal(first.request), onProgress: increasingProgress(first.request.onProgress) };
  let routed: RoutedRequest<T> = { ...first, request };
  let asking: RoutedRequest<T>["asking"] = { capabilities, input: "return" };
  let pauses = 0;
  for (let round = 0; ; round += 1) {
    const answer = await caller.call({ ...routed, asking });
    if (answer.resultType !== "input_required") return answer;
    if (round >= maxInputRounds) throw tooManyRounds(maxInputRounds);
    const { asks, hasRequests, state } = readAskedInput(answer.result);
    requireDeclared(asks, capabilities);
    let responses: JsonObject = {};
    if (asks.size > 0) {
      responses = await between(askAll(asks, ask, signal));
    } else {
      // A pause, so that a server can't make us spin.
      await between(pause(clock, pauseOfRound(pauses), signal));
      pauses += 1;
    }
    const inputResponses = hasRequests ? responses : undefined;
    asking = { capabilities, input: "return", inputResponses, requestState: state };
    routed = { ...routed, settings: answer.route.releaseDigest };
  }
}

/** Throws `input_required` (`answered`) for what was not declared to the server. */
export function requireDeclared(asks: ReadonlyMap<string, ServerAsk>, capabilities: JsonObject): void {
  for (const [key, ask] of asks) {
    if (classifyAsk(ask.method, ask.params, capabilities).kind === "declared") continue;
    const capability = capabilityOf(ask);
    throw new RemoteConnectorError("input_required", {
      message: `The server asks for input that the agent can't be asked for: ${capability}.`,
      delivery: "answered",
      details: { capability, key: plainText(key, 128) },
    });
  }
}

/** The first that has no answer ends the asking of the others. */
async function askAll(asks: ReadonlyMap<string, ServerAsk>, ask: AnswerAsk, signal: AbortSignal): Promise<JsonObject> {
  const failure = new AbortController();
  const abort = (): void => failure.abort(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort);
  try {
    const answers = await Promise.all(
      [...asks].map(async ([key, one]): Promise<[string, JsonObject]> => {
        const answer = await ask(one, failure.signal);
        signal.throwIfAborted();
        if ("result" in answer) return [key, answer.result];
        throw unanswered(key, one, answer.error.code);
      }),
    );
    // Not by assignment: a key __proto__ is a key like others.
    return Object.fromEntries(answers);
  } catch (error) {
    failure.abort(error);
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = clock.schedule(delayMs, () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    const abort = (): void => {
      stop();
      reject(signal.reason);
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

function unanswered(key: string, ask: ServerAsk, rpcCode: number): RemoteConnectorError<"handler_failed"> {
  const kind = capabilityOf(ask);
  return new RemoteConnectorError("handler_failed", {
    message: `The agent gave no answer to ${kind}.`,
    delivery: "answered",
    details: { kind, key: plainText(key, 128), reason: `the agent answered with the error ${String(rpcCode)}` },
  });
}
