/** What is known when the stream of a request ended, or broke, without its answer. */
export interface StreamEnd {
  /** The last event id seen on that stream; `undefined` when it had none. */
  readonly lastEventId: string | undefined;
  /** The last pause that the server asked for. */
  readonly retryMs: number | undefined;
  /** Attempts to take it up again that brought nothing, in a row, the last one included. */
  readonly fruitless: number;
  /** The status with which the server refused the last attempt, if it did. */
  readonly refusedWith?: number | undefined;
}

/** How streams are taken up again. */
export interface ResumeConfig {
  /** How many attempts in a row may bring nothing. */
  readonly maxFruitlessResumes: number;
  /** A server that asks for a longer pause is not waited for. */
  readonly longestRetryMs: number;
  /** From 0 to 1. */
  readonly random: () => number;
}

export type ResumePlan =
  | { readonly kind: "resume"; readonly lastEventId: string; readonly delayMs: number }
  | { readonly kind: "give_up"; readonly reason: string };

/** The pause when the server names none. */
export const DEFAULT_RETRY_MS = 1_000;

/**
 * Decides whether and when a stream is taken up again after `lastEventId`. Pure but for `random`.
 *
 * Only a stream with event ids can be; never before the server's own pause has passed, to which attempts without fruit add
 * a growing one. Source: 2025-11-25, Transports, Resumability and Redelivery.
 */
export function planResume(end: StreamEnd, config: ResumeConfig): ResumePlan {
  const { lastEventId, retryMs, fruitless, refusedWith } = end;
  if (lastEventId === undefined) return { kind: "give_up", reason: "end of stream" };
  if (refusedWith !== undefined && !mayPass(refusedWith)) {
    return { kind: "give_up", reason: `the server refuses to take the stream up again with ${String(refusedWith)}` };
  }
  if (fruitless >= config.maxFruitlessResumes) {
    return { kind: "give_up", reason: `nothing came in ${String(fruitless)} attempts to take the stream up again` };
  }
  if (retryMs !== undefined && retryMs > config.longestRetryMs) {
    return { kind: "give_up", reason: `the server asks for a pause of ${String(retryMs)} ms` };
  }
  const delayMs = (retryMs ?? DEFAULT_RETRY_MS) + backoffMs(fruitless, config.random);
  return { kind: "resume", lastEventId, delayMs };
}

/** Whether what a status refuses may be granted later. */
export function mayPass(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501);
}

const FIRST_BACKOFF_MS = 500;
const LONGEST_BACKOFF_MS = 30_000;

/** What is added to a pause after failures in a row: nothing at first, then more and more, half of it random. */
export function backoffMs(failures: number, random: () => number): number {
  if (failures === 0) return 0;
  const full = Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 20));
  return Math.round((full * (1 + random())) / 2);
}

/** The value of `Last-Event-ID`, in the bytes that a header can carry; `undefined` for an id that none can. */
export function encodeEventId(id: string): string | undefined {
  // An empty id takes back the one before it.
  if (id === "") return undefined;
  const bytes = Buffer.from(id, "utf8").toString("latin1");
  return /^[\x20-\x7e\x80-\xff]+$/.test(bytes) ? bytes : undefined;
}
