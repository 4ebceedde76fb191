import { RemoteConnectorError } from "../../errors.js";
import type { WallClock } from "../clock.js";
import type { FlowRow } from "../ports.js";
import { Deferred } from "./deferred.js";
import type { FlowRequests } from "./flow-requests.js";
import type { FlowConvergence, RouteOutcome } from "./flows-options.js";
import type { NextAction } from "./session.js";

/** How an authorization ended. */
export interface AuthorizationResult {
  /** The account granted it. */
  readonly authorized: true;
  /** The connector's route for the new connection is published. */
  readonly published: boolean;
  /** A code for why it is not; `undefined` when it is. */
  readonly reason: string | undefined;
}

/** An authorization that has begun. */
export interface AuthorizationStart {
  readonly clientRequestId: string;
  /** What the person has to do now; `undefined` for nothing. */
  readonly nextAction: NextAction | undefined;
  /**
   * Resolves when the connection was seen and its connector converged, or two minutes after the account granted it. Rejects with
   * `authorization_failed` when it was not granted, `login_ended` when the login is over first (the flow goes on at the next),
   * `cancelled` when the flows were closed, and with the reason of `signal`. Nobody has to listen to it.
   */
  readonly result: Promise<AuthorizationResult>;
}

/** From the grant to the result. */
export const CONVERGE_MS = 120_000;
/** What a watcher of convergence may still say after that. */
export const LAST_WORD_MS = 1_000;

/** What the caller of one flow is told: what to do, and how it ended. */
export class FlowOutcome {
  readonly #start = new Deferred<AuthorizationStart>();
  readonly #result = new Deferred<AuthorizationResult>();
  readonly #clock: WallClock;
  readonly #converging = new AbortController();
  #cancelTimer: (() => void) | undefined;
  #isWatched = false;

  constructor(clock: WallClock) {
    this.#clock = clock;
  }

  get start(): Promise<AuthorizationStart> {
    return this.#start.promise;
  }

  /** When the result is there, whatever it is. Never rejects. */
  get over(): Promise<void> {
    return this.#result.promise.then(ignore, ignore);
  }

  /** The first answer is there. */
  begun({ clientRequestId }: FlowRow, nextAction: NextAction | undefined): void {
    this.#start.resolve({ clientRequestId, nextAction, result: this.#result.promise });
  }

  /** The account granted it: from here on the time runs. */
  granted(row: FlowRow): void {
    this.begun(row, undefined);
    if (this.#result.isSettled) return;
    this.#cancelTimer ??= this.#clock.schedule(CONVERGE_MS, () => {
      this.#converging.abort(new Error("The time to converge is over."));
      if (!this.#isWatched) this.#publish(false, "connection_not_shown");
      else this.#cancelTimer = this.#clock.schedule(LAST_WORD_MS, () => this.#publish(false, "not_converged"));
    });
  }

  /** The connection is seen. Resolves when the result is there; does not reject. */
  async converge({ connectorKey, connectionId = "" }: FlowRow, convergence: FlowConvergence): Promise<void> {
    if (this.#result.isSettled) return;
    this.#isWatched = true;
    void this.#watch(() => convergence.published(connectorKey, connectionId, this.#converging.signal));
    await this.over;
  }

  /**
   * It came to nothing; answers the error that says so. `lastError` is the request's failure, which the caller who still waits
   * for the first answer gets.
   */
  failed(
    { connectorKey, reason = "cancelled", errorCode }: FlowRow,
    { delivery, lastError: cause }: Pick<FlowRequests, "delivery" | "lastError">,
  ): unknown {
    const error = new RemoteConnectorError("authorization_failed", {
      message: `The authorization of ${connectorKey} came to nothing: ${reason}.`,
      delivery,
      details: { connectorKey, reason, errorCode },
      cause,
    });
    this.#start.reject(cause ?? error);
    this.#reject(error);
    return error;
  }

  /** Nobody waits for it any more, or may. */
  leave(error: unknown): void {
    this.#start.reject(error);
    this.#reject(error);
  }

  async #watch(published: () => Promise<RouteOutcome>): Promise<void> {
    try {
      const { reached, reason } = await published();
      this.#publish(reached, reached ? undefined : (reason ?? "not_converged"));
    } catch {
      this.#publish(false, "not_converged");
    }
  }

  #publish(published: boolean, reason: string | undefined): void {
    this.#cancelTimer?.();
    this.#result.resolve({ authorized: true, published, reason });
  }

  #reject(error: unknown): void {
    this.#cancelTimer?.();
    this.#converging.abort(error);
    this.#result.reject(error);
  }
}

function ignore(): void {}
