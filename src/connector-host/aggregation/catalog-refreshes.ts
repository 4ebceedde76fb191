import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import { NewsPace } from "./news-pace.js";

export interface CatalogRefreshesOptions {
  readonly clock: Clock;
  /** From 0 up to 1: pauses after failures are random in part. */
  readonly random: () => number;
  /** Reads the route's list, and publishes it as its catalog before it resolves. */
  readonly relist: (route: Route<RemoteMcpClient>, signal: AbortSignal) => Promise<unknown>;
  readonly isCurrent: (route: Route<RemoteMcpClient>) => boolean;
  /** Whether something says that the route's list changed since it was read last. */
  readonly isOutdated: (route: Route<RemoteMcpClient>) => boolean;
  readonly hasCatalog: (route: Route<RemoteMcpClient>) => boolean;
}

/** What is known of reading a route's list behind everybody's back. */
interface Refreshing {
  isRunning: boolean;
  /** In a row. */
  failures: number;
  /** When it may be read again after a failure, on the clock. */
  notBefore: number;
}

/** News within that time are answered by one reading. */
const GATHER_MS = 20;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Readings in a row that fail before only a list or further news have it read again. */
const TRIES = 5;
/** How many times in a row a list is read at once since its server told of it; then it is once in ten seconds. */
const READINGS = 20;

/** A reading that is to come. */
interface Planned {
  readonly dueAt: number;
  readonly stop: () => void;
}

/**
 * Reads catalogs anew while nobody waits. Of one route one reading runs at a time: what is told of its list meanwhile has it read once
 * more afterwards, however often it is told. After a failure there is a pause, from half a second up to a minute, whoever lists.
 */
export class CatalogRefreshes {
  readonly #options: CatalogRefreshesOptions;
  readonly #states = new WeakMap<Route<RemoteMcpClient>, Refreshing>();
  readonly #planned = new Map<Route<RemoteMcpClient>, Planned>();
  readonly #pace = new NewsPace(READINGS);
  #isClosed = false;

  constructor(options: CatalogRefreshesOptions) {
    this.#options = options;
  }

  /**
   * The route's list may be another one, or was never read: it is read soon. `isTold`: its server says so, and could say so whenever it is
   * asked.
   */
  soon(route: Route<RemoteMcpClient>, isTold: boolean): void {
    this.#plan(route, GATHER_MS, isTold);
  }

  /** The route's catalog is old: it is read now, if nothing speaks against it. */
  now(route: Route<RemoteMcpClient>): void {
    const state = this.#stateOf(route);
    if (this.#isOver(route) || state.isRunning || this.#waitMs(route, state, true) > 0) return;
    this.#run(route, state);
  }

  /** The route is no more. */
  forget(route: Route<RemoteMcpClient>): void {
    this.#planned.get(route)?.stop();
    this.#planned.delete(route);
  }

  /** Begins to read nothing any more. */
  close(): void {
    this.#isClosed = true;
    for (const route of this.#planned.keys()) this.forget(route);
  }

  #plan(route: Route<RemoteMcpClient>, atLeastMs: number, isTold: boolean): void {
    const { clock } = this.#options;
    const state = this.#stateOf(route);
    if (this.#isOver(route) || state.isRunning) return;
    const delayMs = Math.max(atLeastMs, this.#waitMs(route, state, isTold));
    const dueAt = clock.now() + delayMs;
    const planned = this.#planned.get(route);
    if (planned !== undefined && planned.dueAt <= dueAt) return;
    planned?.stop();
    const stop = clock.schedule(delayMs, () => {
      this.#planned.delete(route);
      // Somebody who waited for it may have had it read.
      if (this.#isOver(route) || !this.#isWanted(route)) return;
      if (isTold) this.#pace.spend(route.connectorKey, clock.now());
      this.#run(route, state);
    });
    this.#planned.set(route, { dueAt, stop });
  }

  #run(route: Route<RemoteMcpClient>, state: Refreshing): void {
    const { relist } = this.#options;
    this.forget(route);
    state.isRunning = true;
    relist(route, route.signal).then(
      () => this.#onRead(route, state),
      () => this.#onFailed(route, state),
    );
  }

  #onRead(route: Route<RemoteMcpClient>, state: Refreshing): void {
    const { clock, hasCatalog, isOutdated } = this.#options;
    state.isRunning = false;
    state.failures = 0;
    // What can't be published is not read again for whoever lists.
    state.notBefore = hasCatalog(route) ? 0 : clock.now() + LONGEST_PAUSE_MS;
    if (isOutdated(route)) this.soon(route, true);
  }

  #onFailed(route: Route<RemoteMcpClient>, state: Refreshing): void {
    const { clock, random } = this.#options;
    state.isRunning = false;
    state.failures += 1;
    state.notBefore = clock.now() + pauseMs(state.failures, random());
    if (state.failures < TRIES && this.#isWanted(route)) this.#plan(route, 0, false);
  }

  #isOver(route: Route<RemoteMcpClient>): boolean {
    return this.#isClosed || route.signal.aborted || !this.#options.isCurrent(route);
  }

  #isWanted(route: Route<RemoteMcpClient>): boolean {
    return this.#options.isOutdated(route) || !this.#options.hasCatalog(route);
  }

  /** In how many milliseconds it may be read. */
  #waitMs({ connectorKey }: Route<RemoteMcpClient>, { notBefore }: Refreshing, isTold: boolean): number {
    const now = this.#options.clock.now();
    return Math.max(0, notBefore - now, isTold ? this.#pace.waitMs(connectorKey, now) : 0);
  }

  #stateOf(route: Route<RemoteMcpClient>): Refreshing {
    let state = this.#states.get(route);
    if (state === undefined) {
      state = { isRunning: false, failures: 0, notBefore: 0 };
      this.#states.set(route, state);
    }
    return state;
  }
}

/** `random`: from 0 up to 1. Pure. */
function pauseMs(failures: number, random: number): number {
  const longestMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 10));
  return Math.ceil((longestMs * (1 + random)) / 2);
}
