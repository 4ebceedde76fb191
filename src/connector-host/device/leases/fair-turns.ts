import { RemoteConnectorError } from "../../../errors.js";
import { closedError } from "../../../transport/index.js";

export interface FairTurnsLimits {
  /** Turns that may be taken at once. */
  readonly turns: number;
  /** How many may wait; the option `maxWaitingLeases` says it. */
  readonly maxWaitingLeases: number;
}

interface Waiter {
  readonly begin: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** So many turns at once; whoever comes when none is left gets the next one, first come, first served. */
export class FairTurns {
  readonly #limits: FairTurnsLimits;
  /** Insertion order is the order of service. */
  readonly #waiting = new Set<Waiter>();
  #taken = 0;
  #isClosed = false;

  constructor(limits: FairTurnsLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves when the turn is there, which must be given back. Rejects (all `not_sent`) with the signal's reason, with `cancelled` once it is
   * closed, and with `limit_exceeded` of `maxWaitingLeases`.
   */
  take(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const { turns, maxWaitingLeases: limit } = this.#limits;
      if (signal.aborted) reject(signal.reason);
      else if (this.#isClosed) reject(closedError());
      else if (this.#taken < turns) {
        this.#taken += 1;
        resolve();
      } else if (this.#waiting.size >= limit) reject(tooMany(limit));
      else this.#wait(signal, resolve, reject);
    });
  }

  /** Gives a turn back, to whoever waits longest. */
  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#taken -= 1;
    else next.begin();
  }

  /** Refuses whoever waits, and whoever comes. Turns that are taken must still be given back. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#waiting) waiter.refuse(closedError());
  }

  #wait(signal: AbortSignal, resolve: () => void, reject: (reason: unknown) => void): void {
    const onAbort = (): void => waiter.refuse(signal.reason);
    const leave = (): void => {
      this.#waiting.delete(waiter);
      signal.removeEventListener("abort", onAbort);
    };
    const waiter: Waiter = {
      begin: () => {
        leave();
        resolve();
      },
      refuse: (reason) => {
        leave();
        reject(reason);
      },
    };
    this.#waiting.add(waiter);
    signal.addEventListener("abort", onAbort);
  }
}

function tooMany(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: "Too many calls wait for a connection over which a server may ask; maxWaitingLeases raises the limit.",
    details: { option: "maxWaitingLeases", limit },
  });
}
