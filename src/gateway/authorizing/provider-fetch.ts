import { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";

/** A request as the OAuth library describes it. */
export interface ProviderRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams | Uint8Array | string | null | undefined;
}

export interface ProviderFetchOptions {
  readonly clock: Clock;
  /** For a whole request, body included. */
  readonly timeoutMs: number;
  /** Ends all requests. */
  readonly closed: AbortSignal;
}

/** Largest answer that is read from an authorization server. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * `fetch` with a deadline, a limit on the answer, and no redirects. The answer is read whole before it is given out. Rejects
 * with `timeout`, `cancelled`, `invalid_answer`, and as `fetch` does.
 */
export function createProviderFetch(
  options: ProviderFetchOptions,
): (url: string, request: ProviderRequest) => Promise<Response> {
  const { clock, closed, timeoutMs } = options;
  return async (url, { body, headers, method }) => {
    const ending = new AbortController();
    const end = (): void => ending.abort(closedError());
    const cancel = clock.schedule(timeoutMs, () => ending.abort(providerTimeout(timeoutMs)));
    closed.addEventListener("abort", end);
    if (closed.aborted) end();
    try {
      const answer = await fetch(url, {
        method,
        headers,
        body: asBody(body),
        redirect: "manual",
        signal: ending.signal,
      });
      const { status, statusText } = answer;
      return new Response(await readBounded(answer), { headers: answer.headers, status, statusText });
    } finally {
      cancel();
      closed.removeEventListener("abort", end);
    }
  };
}

function asBody(body: ProviderRequest["body"]): URLSearchParams | Uint8Array<ArrayBuffer> | string | null {
  return body instanceof Uint8Array ? new Uint8Array(body) : (body ?? null);
}

/** `null` for an answer without a body: some statuses may have none. */
async function readBounded({ body }: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (body === null) return null;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    // Leaving the loop cancels the rest.
    if (length > MAX_ANSWER_BYTES) {
      const reason = "more than 1 MiB";
      const message = `The authorization server's answer has ${reason}.`;
      throw new RemoteConnectorError("invalid_answer", { message, details: { reason }, delivery: "answered" });
    }
    chunks.push(chunk);
  }
  return length === 0 ? null : new Uint8Array(Buffer.concat(chunks, length));
}

/** A provider took longer than `providerTimeoutMs`. */
export function providerTimeout(limitMs: number): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: `The provider did not answer within ${String(limitMs)} ms.`,
    details: { phase: "total", option: "providerTimeoutMs", limitMs },
    delivery: "unknown",
  });
}

function closedError(): RemoteConnectorError<"cancelled"> {
  const details = { reason: "closed" };
  return new RemoteConnectorError("cancelled", { message: "The gateway was closed.", details, delivery: "unknown" });
}
