import type { ExtraHeaders } from "../../serving/index.js";
import type { AgentInput, Binding } from "./ports.js";

/** Why a request was ended before it had its answer. */
export type EndReason =
  | "agent_left"
  | "agent_cancelled"
  | "binding_ended"
  | "deadline"
  | "server_closing"
  | "session_ended";

/** A JSON-RPC response, and the HTTP status that goes with it unless a stream began already. */
export interface Answer {
  readonly status: number;
  readonly body: Uint8Array | string;
  /** Sent with it, unless a stream began already. */
  readonly headers?: ExtraHeaders | undefined;
}

/** What a POST is answered with: a response, or only that it was taken. */
export type Reply = Answer | "accepted";

/** What the work on a request needs of where that came from and its answer goes. One POST is such a target, and so is each request of a batch. */
export interface RequestTarget {
  readonly binding: Binding;
  /** Whether notifications can be sent ahead of the answer. */
  readonly mayStream: boolean;
  /** How the agent can be asked ahead of the answer, over its stream. `undefined`: not in this way. */
  readonly input: AgentInput | undefined;
  /** Aborted when the request ends before its answer. */
  readonly signal: AbortSignal;
  /** What has the shape of that signal, fires with it, and costs much less. */
  readonly quickSignal: AbortSignal;
  /** Aborts it for a reason that is neither the agent's nor this server's. */
  abort(reason: unknown): void;
  /** Why this server aborted it. */
  readonly ended: EndReason | undefined;
  /** When the work must have ended, on the server's clock. Set by the work itself. */
  deadline: number;
  /** Sends a notification ahead of the answer, when that is possible. */
  notify(line: string, options: { readonly droppable: boolean }): void;
}
