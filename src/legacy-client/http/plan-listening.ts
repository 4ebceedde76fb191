import { backoffMs, DEFAULT_RETRY_MS, mayPass, type ResumeConfig } from "./plan-resume.js";

/** How an opening of the listening stream, or the open stream, came to its end. */
export type ListeningEnd =
  /** An answer that is no event stream. */
  | { readonly kind: "refused"; readonly status: number; readonly retryAfterMs?: number | undefined }
  /** The open stream ended or broke. */
  | { readonly kind: "ended" }
  /** The client could not be authorized for it. */
  | { readonly kind: "unauthorized" }
  /** No answer came. */
  | { readonly kind: "failed" };

/** What is known of it then. */
export interface ListeningHistory {
  /** Whether the stream was open before, in this session. */
  readonly hasWorked: boolean;
  /** Whether the session has an id. Without one there is nothing that a server could have lost. */
  readonly hasId: boolean;
  /** Openings in a row that brought no message and did not last, this one included. */
  readonly fruitless: number;
  readonly retryMs: number | undefined;
}

export type ListeningPlan =
  | { readonly kind: "open"; readonly delayMs: number }
  /** No listening any more in this session; everything else goes on. Without a reason when the server says that it has no stream. */
  | { readonly kind: "stop"; readonly reason: string | undefined }
  /** The server doesn't know the session any more. */
  | { readonly kind: "session_lost" };

/**
 * Decides what follows the end of the listening stream. Pure but for `random`.
 *
 * The stream is optional: a server that refuses it, in whatever way, is one without it. A 404 after it was open means that the
 * session is gone. What may pass (429, 5xx but 501, failures of the network, an end) is tried again, never before the
 * server's own pause, and not for ever. A 401 and
 * its like start nothing: calls are where sign-in belongs.
 *
 * Source: 2025-11-25, Transports, Listening for Messages from the Server.
 */
export function planListening(end: ListeningEnd, history: ListeningHistory, config: ResumeConfig): ListeningPlan {
  if (end.kind === "unauthorized") return { kind: "stop", reason: "the client is not authorized for it" };
  if (end.kind === "refused") {
    if (end.status === 404 && history.hasWorked && history.hasId) return { kind: "session_lost" };
    // What the specification has a server without the stream say.
    if (end.status === 405 && !history.hasWorked) return { kind: "stop", reason: undefined };
    if (!mayPass(end.status)) return { kind: "stop", reason: `the server refuses it with ${String(end.status)}` };
  }
  const { fruitless } = history;
  if (fruitless >= config.maxFruitlessResumes) {
    return { kind: "stop", reason: `nothing came in ${String(fruitless)} attempts` };
  }
  const retryMs = history.retryMs ?? DEFAULT_RETRY_MS;
  const least = Math.max(retryMs, end.kind === "refused" ? (end.retryAfterMs ?? 0) : 0);
  if (least > config.longestRetryMs) {
    return { kind: "stop", reason: `the server asks for a pause of ${String(least)} ms` };
  }
  return { kind: "open", delayMs: least + backoffMs(fruitless, config.random) };
}
