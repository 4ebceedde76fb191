import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import type { AggregatedDirectoryOptions, MissingConnector } from "./ports.js";
import { within } from "./within.js";

export type RouteFinderOptions = Pick<
  AggregatedDirectoryOptions,
  "clock" | "now" | "reach" | "routes" | "wakeBudgetMs"
>;

/** Finds the route of a connector in the scopes of a binding. */
export class RouteFinder {
  readonly #options: RouteFinderOptions;

  constructor(options: RouteFinderOptions) {
    this.#options = options;
  }

  /** The published route, if it is of one of the scopes. */
  current(scopes: readonly string[], connectorKey: string): Route<RemoteMcpClient> | undefined {
    const route = this.#options.routes.current(connectorKey);
    return route !== undefined && scopes.includes(route.scope) ? route : undefined;
  }

  /** What a connector is at that should run and has no route; `undefined` for one that should not. */
  missing(scopes: readonly string[], connectorKey: string): Promise<MissingConnector | undefined> {
    return this.#options.reach.missingOne(scopes, connectorKey);
  }

  /**
   * The connector's route; one that should be there and is not is tried now, and waited for. Resolves to `undefined` for a
   * connector that is not in reach. Rejects with `route_unavailable` when it did not come in time, or as soon as it can be told that it
   * won't; with the signal's reason, and with `cancelled` (`login_changed`) when the account signed out meanwhile and in again: what waits
   * was asked for under the old login.
   *
   * Many who wait cause one try. `deadline`: when the answer must be there, on the clock; a little of that is left to say why nothing came.
   */
  async find(
    scopes: readonly string[],
    connectorKey: string,
    signal: AbortSignal,
    deadline = Infinity,
  ): Promise<Route<RemoteMcpClient> | undefined> {
    const current = this.current(scopes, connectorKey);
    if (current !== undefined) return current;
    const epochs = new Map(scopes.map((scope) => [scope, this.#options.routes.epochOf(scope)]));
    const missing = await this.missing(scopes, connectorKey);
    if (missing === undefined) return undefined;
    const { reach, routes, clock, wakeBudgetMs } = this.#options;
    if (missing.state === "authorization_required") {
      // A person has to act: no budget of a call is long enough for that. It may have happened all the same.
      reach.wake(scopes, connectorKey);
      throw unavailable(connectorKey, missing);
    }
    const limitMs = Math.min(wakeBudgetMs, shortOf(deadline - clock.now()));
    let stop = ignore;
    let stopStatus = ignore;
    const published = new Promise<Route<RemoteMcpClient>>((resolve, reject) => {
      const look = (): void => {
        const route = this.current(scopes, connectorKey);
        if (route === undefined) return;
        if (epochs.get(route.scope) === route.scopeEpoch) resolve(route);
        else reject(loginChanged(connectorKey));
      };
      stop = routes.onPublication(look);
      look();
      reach.wake(scopes, connectorKey);
      const endAt = this.#now() + limitMs;
      const judge = (): void => {
        this.missing(scopes, connectorKey).then((now) => {
          if (now !== undefined && isInVain(now, endAt)) reject(unavailable(connectorKey, now));
        }, ignore);
      };
      stopStatus = reach.onStatus?.(connectorKey, judge) ?? ignore;
      if (reach.onStatus !== undefined) judge();
    });
    try {
      return await within(published, { clock, limitMs, option: "wakeBudgetMs", signal });
    } catch (error) {
      if (!isRemoteConnectorError(error, "timeout")) throw error;
      throw unavailable(connectorKey, await this.missing(scopes, connectorKey));
    } finally {
      stop();
      stopStatus();
    }
  }

  /** Epoch milliseconds. */
  #now(): number {
    const { clock, now } = this.#options;
    return now === undefined ? clock.now() : now();
  }
}

/**
 * Whether a connector that was just woken can't come by itself until then, in epoch milliseconds: the attempt has failed, and the next one is
 * later, or a person has to act. One that is being tried has no time of a next attempt. Pure.
 */
function isInVain({ nextAttemptAt, state }: MissingConnector, endAt: number): boolean {
  return state === "authorization_required" || (nextAttemptAt !== undefined && nextAttemptAt > endAt);
}

/** Most of the time that is left. */
function shortOf(leftMs: number): number {
  return Math.max(0, leftMs - Math.min(250, leftMs / 10));
}

function loginChanged(connectorKey: string): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: `The account signed out and in again while the call waited for ${connectorKey}.`,
    details: { reason: "login_changed" },
  });
}

/** The failure of what needs a connector that can't be reached now. */
export function unavailable(connectorKey: string, missing: MissingConnector | undefined) {
  const { state = "offline", since, nextAttemptAt } = missing ?? {};
  const sinceText = since === undefined ? "" : ` since ${timeText(since)}`;
  const nextText = nextAttemptAt === undefined ? "" : `; the next attempt is at ${timeText(nextAttemptAt)}`;
  return new RemoteConnectorError("route_unavailable", {
    message: `The connector ${connectorKey} is ${state}${sinceText}${nextText}.`,
    details: { connectorKey, state, since, nextAttemptAt },
  });
}

function timeText(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

function ignore(): void {}
