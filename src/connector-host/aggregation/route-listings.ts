import { EMPTY_CONTRACT, type ToolContract } from "../../protocol/index.js";
import { checkToolList } from "../activation/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";

/** A tool as it was listed. */
export interface ListedTool {
  readonly contract: ToolContract;
  /** The definition's JSON as its server wrote it. */
  readonly definition: Uint8Array;
}

/** The tools of one route, by native name, in the server's order. */
export type RouteListing = ReadonlyMap<string, ListedTool>;

const MAX_TOOLS = 512;

/**
 * What routes list, live. Whoever asks while a walk of a route is under way shares it: the walk is the route's own, and
 * ends with the route, not with one who asked.
 */
export class RouteListings {
  readonly #walks = new WeakMap<Route<RemoteMcpClient>, Promise<RouteListing>>();
  readonly #newest = new WeakMap<Route<RemoteMcpClient>, RouteListing>();

  /** What was last listed; `undefined` before the first walk. */
  newest(route: Route<RemoteMcpClient>): RouteListing | undefined {
    return this.#newest.get(route);
  }

  /** What the route lists now. Rejects with what its client rejects with. */
  list(route: Route<RemoteMcpClient>): Promise<RouteListing> {
    const running = this.#walks.get(route);
    if (running !== undefined) return running;
    const walk = this.#walk(route).finally(() => this.#walks.delete(route));
    this.#walks.set(route, walk);
    return walk;
  }

  async #walk(route: Route<RemoteMcpClient>): Promise<RouteListing> {
    const leave = route.enter();
    try {
      const listed = await route.client.listAllTools({ signal: route.signal, definitions: true });
      const { tools } = checkToolList(listed, MAX_TOOLS);
      const listing = new Map<string, ListedTool>();
      for (const [name, { contract }] of tools) {
        const definition = listed.definitions.get(name);
        if (definition !== undefined) listing.set(name, { contract: contract ?? EMPTY_CONTRACT, definition });
      }
      this.#newest.set(route, listing);
      return listing;
    } finally {
      leave();
    }
  }
}
