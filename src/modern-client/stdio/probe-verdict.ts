import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { classifyProbe, invalidAnswer, MODERN_REVISIONS, type ProbeOutcome } from "../../protocol/index.js";
import { afterRefusal } from "../after-refusal.js";
import type { AnswerVerdict } from "../classify-answer.js";
import { parseDiscoverResult } from "../discover-result.js";
import { notModern } from "./process-errors.js";

/** What an answer to `server/discover` says of the server's era. Pure. Source: 2026-07-28, stdio, Backward Compatibility. */
export function readProbe(verdict: AnswerVerdict): ProbeOutcome {
  if (verdict.kind === "failed") {
    const next = afterRefusal(verdict.error, { canCorrect: false, canRepeat: true });
    // It refused the version, and names it: one of several servers may be older.
    if (next.kind === "repeat") return { kind: "discovered" };
    return failedProbe(next.kind === "fail_with" ? next.error : verdict.error);
  }
  if (verdict.kind !== "result") return failedProbe(invalidAnswer("a discovery that wants something first"));
  try {
    parseDiscoverResult(verdict.result);
    return { kind: "discovered" };
  } catch (error) {
    return failedProbe(error);
  }
}

/** A probe that came to nothing. */
export function failedProbe(error: unknown): ProbeOutcome {
  const known = isRemoteConnectorError(error) ? error : invalidAnswer("an answer that can't be read");
  return { kind: "failed", error: known };
}

/**
 * Why nothing can be asked of a server that was probed, for a client that speaks modern revisions alone; `undefined` when it
 * can. Pure. `stderrTail` says more of a server that says nothing.
 */
export function judgeServer(outcome: ProbeOutcome, stderrTail: string): RemoteConnectorError | undefined {
  const { kind } = classifyProbe(outcome, { over: "stdio", accepts: MODERN_REVISIONS });
  if (outcome.kind === "discovered" || kind === "modern" || kind === "modern_refused" || kind === "authorize") {
    return undefined;
  }
  const { error } = outcome;
  // What an exit says is more than that it was silent; the server may be of any era.
  if (kind !== "initialize" || error.code === "process_exited") return error;
  if (error.code !== "timeout") return notModern("its answer to server/discover is that of an older server", error);
  const ended = new RemoteConnectorError("process_exited", {
    message: "The server process was ended after its probe.",
    details: { exitCode: undefined, signal: undefined, stderrTail },
  });
  const { limitMs } = error.details;
  return notModern(`it did not answer server/discover within ${String(limitMs)} ms (probeTimeoutMs)`, ended);
}
