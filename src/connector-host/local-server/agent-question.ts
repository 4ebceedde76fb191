import type { EndReason } from "./request-target.js";

/** A question to an agent, as a JSON-RPC request on the stream of a request of its own, that has no answer yet. */
export interface AgentQuestion {
  /** The request. */
  readonly line: string;
  /** Whether it still waits for its answer. */
  isOpen(): boolean;
  /** Ends it without an answer: the request that it was asked for was ended, or answered. */
  end(reason: EndReason | "answered"): void;
}

/** The stream of a request of an agent, over which the agent is asked before it has its answer. */
export interface QuestionStream {
  /**
   * Sends a question ahead of the answer. It is never dropped, and given to an agent that comes back and did not see it. Ended with the
   * request at the latest. `false`, and nothing was sent: the request is over, or its stream is.
   */
  put(question: AgentQuestion): boolean;
  /** A question is over. `line`, if given, tells the agent so, while there still is a stream. Does nothing when it was over before. */
  takeBack(question: AgentQuestion, line?: string): void;
}
