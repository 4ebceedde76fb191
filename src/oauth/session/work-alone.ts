import { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";
import type { LeaseStore } from "../ports.js";
import { backoffMs, sleep } from "./waiting.js";

/** What one process at a time does, and by what it is kept alone. */
export interface AloneWork<T> {
  readonly name: string;
  readonly leases: LeaseStore;
  readonly clock: Clock;
  readonly wallNow: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** How long the right lasts; longer than one request of the work takes. It is made longer while the work goes on. */
  readonly ttlMs: number;
  /** Looks whether others have done it by now; `undefined`: not yet. Asked while others work. */
  readonly seen: () => Promise<T | undefined>;
  readonly work: () => Promise<T>;
  /** Ends the waiting for others. */
  readonly signal: AbortSignal;
}

const POLL_FIRST_MS = 20;
const POLL_MOST_MS = 500;

/** Others get so many times as long as a right lasts: one that dies, one that takes over, and some more. */
const PATIENCE = 3;

/**
 * Does something that only one process at a time may do, or waits until another one has done it.
 *
 * Rejects as the work and the store do, with the signal's reason, and with `timeout` when others hold the right for too long.
 */
export async function workAlone<T>(task: AloneWork<T>): Promise<T> {
  const { clock, leases, name, randomBytes, ttlMs, wallNow } = task;
  const holder = Buffer.from(randomBytes(16)).toString("base64url");
  const claim = (): { name: string; holder: string; ttlMs: number; now: number } => ({
    name,
    holder,
    ttlMs,
    now: wallNow(),
  });
  const giveUpAt = clock.now() + ttlMs * PATIENCE;
  for (let attempt = 0; ; attempt += 1) {
    task.signal.throwIfAborted();
    const lease = await leases.acquire(claim());
    if (lease.kind === "held") break;
    if (clock.now() >= giveUpAt) throw tooLong(ttlMs * PATIENCE);
    const untilFree = Math.max(1, lease.until - wallNow());
    const pause = backoffMs(attempt, POLL_FIRST_MS, POLL_MOST_MS, randomBytes(1)[0] ?? 0);
    await sleep(clock, Math.min(untilFree, pause), task.signal);
    const done = await task.seen();
    if (done !== undefined) return done;
  }
  const keeping = keepUp(clock, Math.ceil(ttlMs / 3), () => leases.renew(claim()));
  try {
    return await task.work();
  } finally {
    await keeping();
    // One that can't be given back ends by itself.
    await leases.release(name, holder).catch(() => false);
  }
}

/** Renews again and again; whoever lost the right goes on, since what is written is compared. Ends when the answer is called. */
function keepUp(clock: Clock, everyMs: number, renew: () => Promise<unknown>): () => Promise<void> {
  let isOver = false;
  let renewing: Promise<unknown> = Promise.resolve();
  let cancel: () => void;
  const schedule = (): void => {
    cancel = clock.schedule(everyMs, () => {
      renewing = renew()
        .catch(() => undefined)
        .then(() => {
          if (!isOver) schedule();
        });
    });
  };
  schedule();
  return async () => {
    isOver = true;
    cancel();
    await renewing;
  };
}

function tooLong(limitMs: number): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: "Another process was at the token endpoint for too long.",
    details: { phase: "total", option: "transport.requestTimeoutMs", limitMs },
  });
}
