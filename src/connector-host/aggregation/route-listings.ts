import { type ToolContract } from "../../protocol/index.js";
import type { Clock } from "../../transport/index.js";
import { checkToolList } from "../activation/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route, RouteTable } from "../routes/index.js";
import { joinSignals } from "./join-signals.js";
import { type Budget, within } from "./within.js";

/** A tool as it was listed. */
export interface ListedTool {
  readonly contract: ToolContract;
  /** The definition's JSON as its server wrote it. */
  readonly definition: Uint8Array;
}

/** The tools of one route, by native name, in the server's order. */
export type RouteListing = ReadonlyMap<string, ListedTool>;

/** How long one who asks waits. */
export type ListBudget = Omit<Budget, "clock">;

/** A walk that others may join. */
interface SharedWalk {
  readonly listing: Promise<RouteListing>;
  readonly startedAt: number;
  readonly controller: AbortController;
  waiters: number;
}

const MAX_TOOLS = 512;
/** A walk that is older is not joined: it may be the one whose answer was lost. */
const JOIN_WINDOW_MS = 1_000;
/** How long a walk may take, whoever waits for it. */
const WALK_TIMEOUT_MS = 30_000;

/**
 * What routes list, live. Those who ask at about the same time share one walk. A walk is nobody's own: it ends when the last
 * who waits for it has left, at its own deadline, or with its route.
 */
export class RouteListings {
  readonly #clock: Clock;
  readonly #walks = new WeakMap<Route<RemoteMcpClient>, SharedWalk>();
  readonly #newest = new WeakMap<Route<RemoteMcpClient>, RouteListing>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What was last listed; `undefined` before the first walk. */
  newest(route: Route<RemoteMcpClient>): RouteListing | undefined {
    return this.#newest.get(route);
  }

  /** What the route lists now, within the budget. Rejects as {@link within} does, and with what the client rejects with. */
  async list(route: Route<RemoteMcpClient>, budget: ListBudget): Promise<RouteListing> {
    const walk = this.#join(route);
    walk.waiters += 1;
    try {
      return await within(walk.listing, { ...budget, clock: this.#clock });
    } finally {
      walk.waiters -= 1;
      if (walk.waiters === 0) walk.controller.abort();
    }
  }

  #join(route: Route<RemoteMcpClient>): SharedWalk {
    const running = this.#walks.get(route);
    if (running !== undefined && this.#clock.now() - running.startedAt < JOIN_WINDOW_MS) return running;
    const controller = new AbortController();
    const listing = this.#walk(route, controller.signal);
    const walk: SharedWalk = { listing, startedAt: this.#clock.now(), controller, waiters: 0 };
    this.#walks.set(route, walk);
    const forget = (): void => {
      if (this.#walks.get(route) === walk) this.#walks.delete(route);
    };
    // Those who wait hear of a failure; when all have left, it is nobody's.
    listing.then(forget, forget);
    return walk;
  }

  async #walk(route: Route<RemoteMcpClient>, signal: AbortSignal): Promise<RouteListing> {
    const leave = route.enter();
    const joined = joinSignals(route.signal, signal);
    try {
      const listed = await route.client.listAllTools({
        signal: joined.signal,
        totalTimeoutMs: WALK_TIMEOUT_MS,
        definitions: true,
      });
      const { tools } = checkToolList(listed, MAX_TOOLS);
      const listing = new Map<string, ListedTool>();
      for (const [name, { contract }] of tools) {
        const definition = listed.definitions.get(name);
        if (definition !== undefined) listing.set(name, { contract, definition });
      }
      this.#newest.set(route, listing);
      return listing;
    } finally {
      joined.release();
      leave();
    }
  }
}

/** The route that replaced this one, if one did. */
export function successorOf(
  route: Route<RemoteMcpClient>,
  routes: RouteTable<RemoteMcpClient>,
): Route<RemoteMcpClient> | undefined {
  if (route.state !== "superseded") return undefined;
  const current = routes.current(route.connectorKey);
  return current?.scope === route.scope && current !== route ? current : undefined;
}
