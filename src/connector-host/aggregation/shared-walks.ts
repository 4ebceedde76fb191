import { isRemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding } from "../local-server/index.js";
import type { Route } from "../routes/index.js";
import { joinSignals } from "./join-signals.js";
import { WalkReading } from "./walk-reading.js";
import { type Budget, within } from "./within.js";

export interface SharedWalksOptions<Listing> {
  readonly clock: Clock;
  /** Reads what the route lists now. Ends with the signal, and by itself. */
  readonly read: (route: Route<RemoteMcpClient>, signal: AbortSignal) => Promise<Listing>;
  /** A walk brought a list, and none that began after it did before. Must not throw. */
  readonly onListed: (route: Route<RemoteMcpClient>, listed: Listed<Listing>) => void;
  /** A walk failed for which nobody waited any more. Must not throw. */
  readonly onLateFailure: (route: Route<RemoteMcpClient>, error: unknown) => void;
}

/** What a walk brought. */
export interface Listed<Listing> {
  readonly listing: Listing;
  readonly tookMs: number;
  /** Somebody had given it up, and gets it when asking again. */
  readonly wasMissed: boolean;
  /** What the one before brought. */
  readonly before: Listing | undefined;
}

/** One who waits for a list. */
export interface WalkReader extends Omit<Budget, "clock"> {
  /** For whom it is; left out: for nobody in particular, who never gets what others missed. */
  readonly binding?: Binding | undefined;
}

interface Walk<Listing> {
  /** The route's mark when it began. */
  readonly mark: number;
  readonly controller: AbortController;
  /** Those that run, the newest last. */
  readonly readings: WalkReading<Listing>[];
  /** Those whose budget passed before the walk ended. With one it goes on, though all have left. */
  readonly missedBy: Set<Binding>;
  readers: number;
}

interface Known<Listing> {
  readonly listing: Listing;
  /** The route's mark when the walk began. */
  readonly mark: number;
}

interface Kept {
  readonly until: number;
  /** Those who missed it and have not had it since. */
  readonly owedTo: Set<Binding>;
}

interface RouteState<Listing> {
  /** Raised by each invalidation. */
  mark: number;
  /** The last one that began, while it runs. It is joined only if nothing was invalidated since. */
  walk: Walk<Listing> | undefined;
  newest: Known<Listing> | undefined;
  kept: Kept | undefined;
  /** The last reading that ended had no answer. */
  isSilent: boolean;
}

/** How long a walk that ended late is kept for those who missed it. */
const KEPT_MS = 30_000;
/** An answer can be late, or lost: whoever asks after it asks once more, and takes what comes first. */
const READINGS = 2;

/**
 * Lists of routes, read in walks that are nobody's own. A route is one account's, or the device's: whoever may read it may share its
 * walks. Those who ask join the walk that runs, if it began after the route's last invalidation. It ends when the last who waits for
 * it has left, unless one of them left because it was late: then it goes on to its own end, and is kept half a minute for
 * those, each of whom gets it once. Those who join a late one have it ask once more, and do not wait for what may be lost.
 */
export class SharedWalks<Listing> {
  readonly #options: SharedWalksOptions<Listing>;
  readonly #states = new WeakMap<Route<RemoteMcpClient>, RouteState<Listing>>();

  constructor(options: SharedWalksOptions<Listing>) {
    this.#options = options;
  }

  /** What was last listed; `undefined` before the first walk ended. */
  newest(route: Route<RemoteMcpClient>): Listing | undefined {
    return this.#states.get(route)?.newest?.listing;
  }

  /** What was last listed, if nothing was invalidated since that walk began. */
  valid(route: Route<RemoteMcpClient>): Listing | undefined {
    const state = this.#states.get(route);
    return state?.newest?.mark === state?.mark ? state?.newest?.listing : undefined;
  }

  /** Whether nothing was listed and nothing invalidated since there is the route. */
  isUntouched(route: Route<RemoteMcpClient>): boolean {
    const state = this.#states.get(route);
    return state === undefined || (state.mark === 0 && state.newest === undefined);
  }

  /** Whether something was invalidated since the walk began that brought the last list, or, before the first, since there is the route. */
  isOutdated(route: Route<RemoteMcpClient>): boolean {
    const state = this.#states.get(route);
    return state !== undefined && state.mark !== (state.newest?.mark ?? 0);
  }

  /** Whether the route was read last until the time for that was over, and nothing came. */
  isSilent(route: Route<RemoteMcpClient>): boolean {
    return this.#states.get(route)?.isSilent ?? false;
  }

  /** The route's list may have changed: from now on no walk is joined that runs, and what is kept is dropped. */
  invalidate(route: Route<RemoteMcpClient>): void {
    const state = this.#stateOf(route);
    state.mark += 1;
    state.kept = undefined;
  }

  /** What the route lists now, within the budget. Rejects as {@link within} does, and with what reading rejects with. */
  async list(route: Route<RemoteMcpClient>, reader: WalkReader): Promise<Listing> {
    const { clock } = this.#options;
    const { binding, option, signal } = reader;
    // Nobody is asked for somebody who has left.
    signal.throwIfAborted();
    const state = this.#stateOf(route);
    const kept = binding && this.#takeKept(state, binding);
    if (kept !== undefined) return kept;
    const walk = this.#join(state);
    const reading = this.#readingOf(route, state, walk);
    walk.readers += 1;
    try {
      const listing = await within(reading.listing, { ...reader, clock });
      if (binding !== undefined) walk.missedBy.delete(binding);
      return listing;
    } catch (error) {
      const isLate = isRemoteConnectorError(error, "timeout") && error.details.option === option;
      if (isLate && !signal.aborted && binding !== undefined) {
        walk.missedBy.add(binding);
        reading.isLate = true;
      }
      throw error;
    } finally {
      walk.readers -= 1;
      if (walk.readers === 0 && walk.missedBy.size === 0) walk.controller.abort();
    }
  }

  #takeKept({ kept, newest }: RouteState<Listing>, binding: Binding): Listing | undefined {
    if (kept === undefined || this.#options.clock.now() >= kept.until) return undefined;
    return kept.owedTo.delete(binding) ? newest?.listing : undefined;
  }

  #join(state: RouteState<Listing>): Walk<Listing> {
    const running = state.walk;
    if (running?.mark === state.mark && !running.controller.signal.aborted) return running;
    const controller = new AbortController();
    const walk: Walk<Listing> = { mark: state.mark, controller, readings: [], missedBy: new Set(), readers: 0 };
    state.walk = walk;
    return walk;
  }

  /** The walk's newest reading; another one, if that is late. */
  #readingOf(route: Route<RemoteMcpClient>, state: RouteState<Listing>, walk: Walk<Listing>): WalkReading<Listing> {
    const newest = walk.readings.at(-1);
    if (newest !== undefined && (!newest.isLate || walk.readings.length === READINGS)) return newest;
    const startedAt = this.#options.clock.now();
    const reading = new WalkReading<Listing>();
    walk.readings.push(reading);
    this.#read(route, walk.controller.signal).then(
      (listing) => this.#onListed(route, state, walk, { listing, startedAt }),
      (error: unknown) => this.#onFailed(route, state, walk, { reading, error }),
    );
    return reading;
  }

  async #read(route: Route<RemoteMcpClient>, signal: AbortSignal): Promise<Listing> {
    const leave = route.enter();
    const joined = joinSignals(route.signal, signal);
    try {
      return await this.#options.read(route, joined.signal);
    } finally {
      joined.release();
      leave();
    }
  }

  #onListed(
    route: Route<RemoteMcpClient>,
    state: RouteState<Listing>,
    walk: Walk<Listing>,
    { listing, startedAt }: { readonly listing: Listing; readonly startedAt: number },
  ): void {
    const { clock, onListed } = this.#options;
    if (state.walk === walk) state.walk = undefined;
    // Nobody waits any more, or another reading came first.
    if (walk.controller.signal.aborted) return;
    const now = clock.now();
    state.isSilent = false;
    const before = state.newest;
    if (before === undefined || before.mark <= walk.mark) {
      const wasMissed = walk.missedBy.size > 0 && walk.mark === state.mark;
      state.newest = { listing, mark: walk.mark };
      state.kept = wasMissed ? { until: now + KEPT_MS, owedTo: walk.missedBy } : undefined;
      onListed(route, { listing, tookMs: now - startedAt, wasMissed, before: before?.listing });
    }
    for (const reading of walk.readings) reading.resolve(listing);
    walk.controller.abort();
  }

  #onFailed(
    route: Route<RemoteMcpClient>,
    state: RouteState<Listing>,
    walk: Walk<Listing>,
    { reading, error }: { readonly reading: WalkReading<Listing>; readonly error: unknown },
  ): void {
    walk.readings.splice(walk.readings.indexOf(reading), 1);
    const [other] = walk.readings;
    if (other === undefined) reading.reject(error);
    // Whoever waits for it gets what the other one brings.
    else other.listing.then(reading.resolve, reading.reject);
    const isEnded = route.signal.aborted || walk.controller.signal.aborted;
    if (walk.readings.length === 0 && state.walk === walk) state.walk = undefined;
    // Where lists come often, there is always another reading: each of them counts.
    if (!isEnded) state.isSilent = isRemoteConnectorError(error, "timeout");
    // Those who wait hear of it themselves.
    const isUnheard = walk.readers === 0 && walk.missedBy.size > 0 && !isEnded;
    if (isUnheard) this.#options.onLateFailure(route, error);
  }

  #stateOf(route: Route<RemoteMcpClient>): RouteState<Listing> {
    let state = this.#states.get(route);
    if (state === undefined) {
      state = { mark: 0, walk: undefined, newest: undefined, kept: undefined, isSilent: false };
      this.#states.set(route, state);
    }
    return state;
  }
}
