import type { HostFailure } from "./error-lines.js";
import { TOO_LONG } from "./host-request.js";
import type { ServeStdioConfig } from "./options.js";

/** No host was found, so that it heard nothing of the request. */
export function hostUnreachable(path: string, reason: string): HostFailure {
  return {
    message: `No host can be reached at ${path}: ${reason}. Start it, then try again.`,
    delivery: "not_sent",
    code: "connect_failed",
    facts: { reason },
  };
}

/** The session is gone, in which the host would have acted on the request. */
export function sessionLost(): HostFailure {
  return {
    message: "The host has forgotten the session, and no new one could be had.",
    delivery: "not_sent",
    code: "unexpected_answer",
  };
}

/** The request was sent, and its answer's end did not come. */
export function answerLost(code: "connection_broken" | "stream_ended", reason?: string): HostFailure {
  return {
    message: "The host ended before its answer; whether it acted on the request is not known.",
    delivery: "unknown",
    code,
    facts: reason === undefined ? undefined : { reason },
  };
}

/** The request was sent, and what came of it could not be read. `reason` is the system's code, or the name of a limit. */
export function answerBroken(reason: string, { maxMessageBytes }: ServeStdioConfig): HostFailure {
  if (reason !== TOO_LONG) return answerLost("connection_broken", reason);
  return {
    message: `The answer has more than ${String(maxMessageBytes)} bytes (maxMessageBytes).`,
    delivery: "unknown",
    code: "limit_exceeded",
    facts: { option: "maxMessageBytes", limit: maxMessageBytes },
  };
}
