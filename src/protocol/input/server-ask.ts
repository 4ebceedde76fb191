import type { JsonObject, JsonRpcError } from "../json-rpc.js";

/** What a server asks for in the midst of a request, as it came: `elicitation/create`, `sampling/createMessage`, `roots/list`. */
export interface ServerAsk {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** What the server gets for it: a result of the method, or an error. */
export type ServerAskAnswer = { readonly result: JsonObject } | { readonly error: JsonRpcError };

/** Answers what a server asks. `signal` fires when the answer is no longer wanted. That it rejects is an internal error to the server. */
export type AnswerAsk = (ask: ServerAsk, signal: AbortSignal) => Promise<ServerAskAnswer>;

/**
 * Hands on whatever a server asks for, in the place of handlers: nothing is checked or filled in here, since somebody else answers.
 * A method of no capability that is declared is "method not found" without asking.
 */
export interface InputRelay {
  /** What is declared, in the form of the newest revision: `elicitation`, `sampling` and `roots`, each an object. */
  readonly capabilities: JsonObject;
  readonly answer: AnswerAsk;
}
