import type { Route, RouteClient } from "./route.js";
import type { RouteDiagnostic, RouteTableConfig } from "./route-table-options.js";

const LONGEST_PAUSE_MS = 60_000;
const DRAIN_EXPIRED = "the drain limit passed";

/**
 * - `draining`: calls are in flight and may be. Only a superseded route drains.
 * - `closing`: an attempt to close the client is under way.
 * - `pausing`: the last attempt failed, the next is scheduled.
 * - `ended`: the client is closed, or the route was given up. No timer is left.
 */
type Phase = "draining" | "closing" | "pausing" | "ended";

/**
 * The way out of one withdrawn route: its calls drain, then its client is closed, again and again until that succeeds or
 * is given up. Begins when it is made.
 */
export class Retirement<Client extends RouteClient = RouteClient> {
  readonly route: Route<Client>;
  /** Resolves when closing was tried once, whatever came of it. */
  readonly tried: Promise<void>;
  readonly #config: RouteTableConfig;
  readonly #onEnd: (retirement: Retirement<Client>) => void;
  #phase: Phase = "draining";
  #attempts = 0;
  #resolveTried: () => void = ignore;
  /** Cancels the phase's timer: drain limit, attempt's deadline, or pause. There is never more than one. */
  #stopTimer: () => void = ignore;
  #stopWaiting: () => void = ignore;

  /** `onEnd` is called once, later than this constructor returns. */
  constructor(route: Route<Client>, config: RouteTableConfig, onEnd: (retirement: Retirement<Client>) => void) {
    this.route = route;
    this.#config = config;
    this.#onEnd = onEnd;
    this.tried = new Promise((resolve) => {
      this.#resolveTried = resolve;
    });
    if (route.state === "revoked" || route.inFlight === 0) this.#close();
    else this.#drain();
  }

  get isDraining(): boolean {
    return this.#phase === "draining";
  }

  /** Revokes the route: what drains is aborted, and closing begins at once. */
  revoke(reason: string): void {
    this.route.revoke(reason);
    if (this.#phase === "draining") this.#close();
  }

  /** Gives the route up, now. It is revoked, and one last attempt to close is made that nobody waits for. */
  abandon(reason: string): void {
    if (this.#phase === "ended") return;
    this.route.revoke(reason);
    const isClosing = this.#phase === "closing";
    this.#report("cleanup_abandoned", `A withdrawn route was given up: ${reason}.`);
    this.#end();
    if (!isClosing) closeClient(this.route.client).catch(ignore);
  }

  #drain(): void {
    this.#stopWaiting = this.route.onIdle(() => this.#close());
    this.#stopTimer = this.#config.clock.schedule(this.#config.drainTimeoutMs, () => {
      this.#report("drain_expired", "Calls over a superseded route were aborted at the drain limit.");
      // Calls that wait for an agent have a limit of their own; when the last of them has left, the route is idle.
      if (!this.route.endDrain(DRAIN_EXPIRED)) this.revoke(DRAIN_EXPIRED);
    });
  }

  #close(): void {
    this.#stopTimer();
    this.#stopWaiting();
    this.#phase = "closing";
    this.#attempts += 1;
    const attempt = this.#attempts;
    const { clock, closeTimeoutMs } = this.#config;
    this.#stopTimer = clock.schedule(closeTimeoutMs, () => this.#failed(attempt, "the client takes too long to close"));
    closeClient(this.route.client).then(
      // A success counts, however late it comes.
      () => this.#end(),
      (cause: unknown) => this.#failed(attempt, "the client could not be closed", cause),
    );
  }

  #failed(attempt: number, reason: string, cause?: unknown): void {
    if (this.#phase !== "closing" || attempt !== this.#attempts) return;
    const { clock, closeRetryMs, maxCloseAttempts } = this.#config;
    this.#stopTimer();
    if (attempt >= maxCloseAttempts) {
      this.#report("cleanup_abandoned", `A withdrawn route was given up: ${reason}.`, cause);
      return this.#end();
    }
    this.#report("close_failed", `A withdrawn route is not closed yet: ${reason}.`, cause);
    this.#phase = "pausing";
    const pauseMs = Math.min(closeRetryMs * 2 ** (attempt - 1), LONGEST_PAUSE_MS);
    this.#stopTimer = clock.schedule(pauseMs, () => this.#close());
    this.#resolveTried();
  }

  #end(): void {
    if (this.#phase === "ended") return;
    this.#phase = "ended";
    this.#stopTimer();
    this.#stopWaiting();
    this.#resolveTried();
    this.#onEnd(this);
  }

  #report(kind: RouteDiagnostic["kind"], message: string, cause?: unknown): void {
    const { connectorKey, generation } = this.route;
    this.#config.onDiagnostic({ kind, message, connectorKey, generation, attempts: this.#attempts, cause });
  }
}

/** A client that throws instead of rejecting fails all the same. */
async function closeClient(client: RouteClient): Promise<void> {
  await client.close();
}

function ignore(): void {}
