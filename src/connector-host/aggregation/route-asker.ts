import { setMaxListeners } from "node:events";
import { isRemoteConnectorError } from "../../errors.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route, RouteTable } from "../routes/index.js";
import { joinSignals } from "./join-signals.js";
import { mapLimited } from "./map-limited.js";
import { successorOf } from "./route-listings.js";

/** What asking one route gave. The route is the one that was asked last: it may be the successor of the one that was to be. */
export type AskOutcome<Listing> =
  | { readonly kind: "found"; readonly route: Route<RemoteMcpClient>; readonly listing: Listing }
  | { readonly kind: "failed"; readonly route: Route<RemoteMcpClient>; readonly error: unknown };

/** Asks one route. Must end soon after the signal fires. */
export type AskRoute<Listing> = (route: Route<RemoteMcpClient>, signal: AbortSignal) => Promise<Listing>;

/** Routes that one list asks at once. */
const ROUTES_AT_ONCE = 32;

/** Asks many routes for a list, 32 at once. */
export class RouteAsker {
  readonly #routes: RouteTable<RemoteMcpClient>;
  /** Where the next list begins to ask, so that it is not always the same routes that wait for their turn. */
  #start = 0;

  constructor(routes: RouteTable<RemoteMcpClient>) {
    this.#routes = routes;
  }

  /** Never rejects for what a route does. A route that is replaced while it waits to be asked is asked in its successor. */
  async askAll<Listing>(
    routes: readonly Route<RemoteMcpClient>[],
    signal: AbortSignal,
    ask: AskRoute<Listing>,
  ): Promise<readonly AskOutcome<Listing>[]> {
    if (routes.length === 0) return [];
    const start = this.#start % routes.length;
    this.#start = start + ROUTES_AT_ONCE;
    const rotated = [...routes.slice(start), ...routes.slice(0, start)];
    // One signal for all: its listeners are as many as routes, which is no leak.
    const joined = joinSignals(signal);
    setMaxListeners(0, joined.signal);
    try {
      return await mapLimited(rotated, ROUTES_AT_ONCE, (route) => this.#ask(route, joined.signal, ask));
    } finally {
      joined.release();
    }
  }

  async #ask<Listing>(
    route: Route<RemoteMcpClient>,
    signal: AbortSignal,
    ask: AskRoute<Listing>,
  ): Promise<AskOutcome<Listing>> {
    try {
      return { kind: "found", route, listing: await ask(route, signal) };
    } catch (error) {
      const successor = successorOf(route, this.#routes);
      if (successor === undefined || signal.aborted) return { kind: "failed", route, error };
      return this.#ask(successor, signal, ask);
    }
  }
}

/** Why a connector is left out. A word of ours: what a server wrote into an error is no reading for models. */
export function omissionReason(error: unknown): string {
  if (isRemoteConnectorError(error, "peer_error")) return `peer_error ${String(error.details.rpcCode)}`;
  return isRemoteConnectorError(error) ? error.code : "internal_error";
}
