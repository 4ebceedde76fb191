import type { JsonObject } from "../protocol/index.js";
import type { Answer } from "./answer.js";
import type { ReceivedRequest } from "./received-request.js";

/** Answers a request. `undefined` says that it was not expected; so does a throw. */
export type Handler = (request: ReceivedRequest) => Answer | undefined | Promise<Answer | undefined>;

/** An exchange that a script expects. What is left out matches anything. */
export interface ExpectedExchange {
  /** The HTTP method. `POST` when left out. */
  readonly verb?: string | undefined;
  /** The path, without a query. */
  readonly path?: string | undefined;
  /** The JSON-RPC method. */
  readonly method?: string | undefined;
  /** Headers with their whole value or a pattern of it; `null` for one that must not be there. */
  readonly headers?: Readonly<Record<string, string | RegExp | null>> | undefined;
  /** Members that `params` must have, at any depth with others beside them, or a test of it. */
  readonly params?: JsonObject | ((params: JsonObject) => boolean) | undefined;
  /** How often it comes. Once when left out. */
  readonly times?: number | { readonly atLeast: number; readonly atMost: number } | undefined;
  /** The answer to each. */
  readonly answer: Answer | Handler;
}

/** The exchanges that are expected, or a function that answers whatever comes. */
export type Script = readonly ExpectedExchange[] | Handler;

/** Any number of times, none included: for `times`. */
export const ANY_TIMES = { atLeast: 0, atMost: Infinity } as const;
