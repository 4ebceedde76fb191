import { between, doubled } from "../backoff.js";
import type { ProjectionRow, ProjectionTx } from "../ports.js";
import { classifyFailure, pauseAfter } from "./classify-failure.js";
import { Deferred } from "./deferred.js";
import { CONVERGE_MS, LAST_WORD_MS } from "./flow-outcome.js";
import type { LaneHolder } from "./flow-run.js";
import type { FlowsConfig } from "./flows-options.js";
import { Pace } from "./pace.js";

/** How a disconnect ended. The control plane has taken the authorization away in either case. */
export interface DisconnectResult {
  /** The connector was seen disabled, its route gone. */
  readonly observed: boolean;
  /** A code for why it was not within two minutes; `undefined` when it was. */
  readonly reason: string | undefined;
}

/** How long the request is repeated while it fails in a way that passes. */
const PATIENCE_MS = 60_000;

/** One disconnect of one connector. It is in its lane until the control plane has answered. */
export class Disconnecting<Tx extends ProjectionTx> implements LaneHolder {
  readonly clientRequestId = undefined;
  /** When the control plane has answered and the row is lowered, or it was stopped. Never rejects. */
  readonly ended: Promise<void>;
  /** When nothing of it runs any more. Never rejects. */
  readonly settled: Promise<void>;
  readonly #config: FlowsConfig<Tx>;
  readonly connectorKey: string;
  readonly #result = new Deferred<DisconnectResult>();
  readonly #ended = new Deferred<void>();
  readonly #stopping = new AbortController();
  readonly #pace: Pace;

  constructor(config: FlowsConfig<Tx>, connectorKey: string, predecessor: LaneHolder | undefined) {
    this.#config = config;
    this.connectorKey = connectorKey;
    this.#pace = new Pace(config.clock);
    this.ended = this.#ended.promise;
    this.settled = this.#run(predecessor);
  }

  get result(): Promise<DisconnectResult> {
    return this.#result.promise;
  }

  /** It can't be taken back, and is over soon. */
  makeRoom(): Promise<void> {
    return this.ended;
  }

  stop(error: unknown): void {
    this.#result.reject(error);
    this.#stopping.abort(error);
    this.#pace.hurry();
  }

  async #run(predecessor: LaneHolder | undefined): Promise<void> {
    const { signal } = this.#stopping;
    try {
      await predecessor?.makeRoom("disconnected");
      const row = await this.#request(signal);
      await this.#lower(row);
      this.#ended.resolve();
      this.#result.resolve(await this.#observe(signal));
    } catch (error) {
      this.#result.reject(error);
    } finally {
      this.#ended.resolve();
    }
  }

  /** Asks until there is an answer. Asking again does no harm. Answers the connection that there was before. */
  async #request(signal: AbortSignal): Promise<ProjectionRow | undefined> {
    const { sessions, store, login, clock, random } = this.#config;
    const row = await store.read((tx) => tx.projections.get(login.accountId, this.connectorKey));
    const startedAt = clock.now();
    let waited = 0;
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        await sessions.disconnect(this.connectorKey, signal);
        return row;
      } catch (error) {
        const longest = doubled(attempt, 1_000, 60_000);
        const delayMs = pauseAfter(error, between(longest / 2, longest, random), clock.now());
        waited = Math.max(waited + delayMs, clock.now() - startedAt + delayMs);
        if (signal.aborted || classifyFailure(error).kind !== "passing" || waited > PATIENCE_MS) throw error;
        this.#pace.later(delayMs);
        await this.#pace.wait();
      }
    }
  }

  /** Its route goes with this, whatever the next snapshot takes. */
  async #lower(row: ProjectionRow | undefined): Promise<void> {
    const { sync, onTrouble } = this.#config;
    const connectorKey = this.connectorKey;
    try {
      if (row?.state === "connected") {
        const { connectionId, connectionVersion } = row;
        await sync.observe({ connectorKey, connectionId, connectionVersion, state: "disconnected" });
      }
    } catch (error) {
      // The snapshot that is fetched now says the same.
      onTrouble(error);
    }
    sync.wake();
  }

  async #observe(signal: AbortSignal): Promise<DisconnectResult> {
    const { convergence, clock } = this.#config;
    const watching = new AbortController();
    const late = new Deferred<DisconnectResult>();
    const giveUp = (): void => late.resolve({ observed: false, reason: "not_observed" });
    const stop = (): void => {
      watching.abort(signal.reason);
      giveUp();
    };
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    let cancel = clock.schedule(CONVERGE_MS, () => {
      watching.abort(new Error("The time to converge is over."));
      cancel = clock.schedule(LAST_WORD_MS, giveUp);
    });
    try {
      const outcome = convergence.withdrawn(this.connectorKey, watching.signal);
      const watched = outcome.then(({ reached, reason }) => ({
        observed: reached,
        reason: reached ? undefined : (reason ?? "not_observed"),
      }));
      return await Promise.race([watched, late.promise]);
    } catch {
      return { observed: false, reason: "not_observed" };
    } finally {
      cancel();
      signal.removeEventListener("abort", stop);
    }
  }
}
