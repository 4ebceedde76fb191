import { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";
import { waitFor } from "./waiting.js";

/** Discovery asks several places, each with a deadline of its own: the resource's all together, and the server's, may take this many of them. */
const LIMIT_PER_REQUEST = 2;

/**
 * Looks something up within twice the time that one request may take. The signal that it is given ends with `signal`, and with `timeout`
 * (`transport.requestTimeoutMs`) then. Rejects as the work does.
 */
export async function withinLimit<T>(
  clock: Clock,
  requestTimeoutMs: number,
  signal: AbortSignal,
  look: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limitMs = requestTimeoutMs * LIMIT_PER_REQUEST;
  const late = new AbortController();
  const cancel = clock.schedule(limitMs, () => late.abort(tooSlow(limitMs)));
  try {
    const either = AbortSignal.any([signal, late.signal]);
    return await waitFor(look(either), either);
  } finally {
    cancel();
  }
}

function tooSlow(limitMs: number): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: `What is published of authorization could not be had within ${String(limitMs)} ms.`,
    details: { phase: "total", option: "transport.requestTimeoutMs", limitMs },
  });
}
