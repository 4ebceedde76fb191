import { setMaxListeners } from "node:events";
import { isRemoteConnectorError } from "../../errors.js";
import { changeMembers } from "../../serving/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, OmittedConnector, ToolListing } from "../local-server/index.js";
import { buildNameTable } from "../naming/index.js";
import type { Route } from "../routes/index.js";
import { joinSignals } from "./join-signals.js";
import type { AggregatedDirectoryOptions, MissingConnector } from "./ports.js";
import {
  type ListBudget,
  type ListedTool,
  type RouteListing,
  type RouteListings,
  successorOf,
} from "./route-listings.js";
import { mapLimited } from "./map-limited.js";

interface NamedTool {
  readonly connectorKey: string;
  readonly nativeName: string;
  readonly tool: ListedTool;
}

/** What asking all routes gave. */
interface Gathered {
  readonly named: NamedTool[];
  readonly omitted: OmittedConnector[];
  readonly failures: unknown[];
  readonly answered: number;
}

type ListOutcome =
  | { readonly kind: "found"; readonly listing: RouteListing }
  | { readonly kind: "failed"; readonly error: unknown };

interface AskedRoute {
  readonly route: Route<RemoteMcpClient>;
  readonly outcome: ListOutcome;
}

/** Routes that one list asks at once. */
const ROUTES_AT_ONCE = 32;

/** Lists the tools of all published routes as one. */
export class ToolLister {
  readonly #options: AggregatedDirectoryOptions;
  readonly #listings: RouteListings;

  constructor(options: AggregatedDirectoryOptions, listings: RouteListings) {
    this.#options = options;
    this.#listings = listings;
  }

  /**
   * Every route is listed live, each within its own budget; one that fails or is late is left out and named. Sorted by
   * name. What was withdrawn meanwhile is not there. Rejects, with the first failure, only when every route failed.
   */
  async list(binding: Binding, signal: AbortSignal): Promise<ToolListing> {
    const { reach, namespaces } = this.#options;
    const scopes = reach.scopesOf(binding);
    if (scopes.length === 0) return { tools: [], omitted: [] };
    const asked = await this.#askAll(scopes, signal);
    // What is missing is worth a word, and not the whole list.
    const missing = await reach.missing(scopes).catch((): readonly MissingConnector[] => []);
    signal.throwIfAborted();
    const left = reach.scopesOf(binding);
    if (scopes.some((scope) => !left.includes(scope))) return this.list(binding, signal);
    const { named, omitted, failures, answered } = this.#gather(asked);
    if (failures.length > 0 && answered === 0) throw failures[0];
    for (const { connectorKey, state } of missing) omitted.push({ connectorKey, reason: state });
    const { entries } = buildNameTable(namespaces, named);
    const tools = Array.from(entries, ([name, { tool }]) => ({ name, definition: renamed(tool.definition, name) }));
    return { tools, omitted };
  }

  async #askAll(scopes: readonly string[], signal: AbortSignal): Promise<AskedRoute[]> {
    const { routes: table, listBudgetMs } = this.#options;
    // One signal for all: its listeners are as many as routes, which is no leak.
    const joined = joinSignals(signal);
    setMaxListeners(0, joined.signal);
    const routes = table.list().filter((route) => scopes.includes(route.scope));
    const budget = { limitMs: listBudgetMs, option: "listBudgetMs", signal: joined.signal };
    return mapLimited(routes, ROUTES_AT_ONCE, async (route) => ({
      route,
      outcome: await this.#listRoute(route, budget).then(found, failed),
    })).finally(() => joined.release());
  }

  /** What was withdrawn since it was asked is left out without a word. */
  #gather(asked: readonly AskedRoute[]): Gathered {
    const named: NamedTool[] = [];
    const omitted: OmittedConnector[] = [];
    const failures: unknown[] = [];
    let answered = 0;
    for (const { route, outcome } of asked) {
      if (route.state === "revoked") continue;
      const { connectorKey } = route;
      if (outcome.kind === "found") {
        answered += 1;
        for (const [nativeName, tool] of outcome.listing) named.push({ connectorKey, nativeName, tool });
      } else {
        this.#options.reach.onFailure(route, outcome.error);
        omitted.push({ connectorKey, reason: reasonOf(outcome.error) });
        failures.push(outcome.error);
      }
    }
    return { named, omitted, failures, answered };
  }

  /** A route that is replaced while it waits to be asked is asked in its successor. */
  async #listRoute(route: Route<RemoteMcpClient>, budget: ListBudget): Promise<RouteListing> {
    try {
      return await this.#listings.list(route, budget);
    } catch (error) {
      const successor = successorOf(route, this.#options.routes);
      if (successor === undefined || budget.signal.aborted) throw error;
      return this.#listings.list(successor, budget);
    }
  }
}

function found(listing: RouteListing): ListOutcome {
  return { kind: "found", listing };
}

function failed(error: unknown): ListOutcome {
  return { kind: "failed", error };
}

/** A definition under another name; every other byte is its server's. */
function renamed(definition: Uint8Array, name: string): string {
  return Buffer.from(changeMembers(definition, { name: JSON.stringify(name) })).toString("utf8");
}

/** A word of ours: what a server wrote into an error is no reading for models. */
function reasonOf(error: unknown): string {
  if (isRemoteConnectorError(error, "peer_error")) return `peer_error ${String(error.details.rpcCode)}`;
  return isRemoteConnectorError(error) ? error.code : "internal_error";
}
