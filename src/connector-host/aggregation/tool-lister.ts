import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, ExposedTool, OmittedConnector, ToolListing } from "../local-server/index.js";
import type { Route } from "../routes/index.js";
import { fitListings } from "./fit-listings.js";
import type { View } from "./given-views.js";
import type { ListReports } from "./list-reports.js";
import type { AggregatedDirectoryOptions, MissingConnector } from "./ports.js";
import type { RouteListing } from "./route-listing.js";
import { type AskOutcome, omissionReason, RouteAsker } from "./route-asker.js";
import type { ListReader } from "./route-listings.js";

export interface ToolListerOptions extends Pick<
  AggregatedDirectoryOptions,
  "maxListBytes" | "namespaces" | "reach" | "routes"
> {
  readonly reports: ListReports;
  /** Whether the connector is opened for tools, and any of them may be called. */
  readonly hasTools: (connectorKey: string) => boolean;
  /**
   * What a route is listed with: live, or from its catalog, `undefined` when there is none. Rejects as `RouteListings.list` does.
   */
  readonly listRoute: (route: Route<RemoteMcpClient>, reader: ListReader) => Promise<RouteListing | undefined>;
  /** Has ready what `lastListing` is to know of these connectors. */
  readonly recall: (scopes: readonly string[], connectorKeys: readonly string[]) => Promise<void>;
  /** What is known of a connector that should run and has no route. */
  readonly lastListing: (scopes: readonly string[], connectorKey: string) => RouteListing | undefined;
  /** What a binding sees of a connector's listing. */
  readonly shown: (binding: Binding, connectorKey: string, listing: RouteListing) => RouteListing;
  /** A binding asks for its list. The returned function is told what it is given; `asked`: which routes gave its parts. */
  readonly giving: (binding: Binding) => (view: View, asked: readonly ListedRoute[]) => void;
}

/** What a route was listed with. */
export interface ListedRoute {
  readonly route: Route<RemoteMcpClient>;
  readonly listing: RouteListing;
}

/** A connector's part of a list. */
interface Part {
  readonly connectorKey: string;
  readonly listing: RouteListing;
}

/** What asking all routes gave. */
interface Gathered {
  readonly listed: ListedRoute[];
  readonly omitted: OmittedConnector[];
  readonly failures: unknown[];
}

type ListOutcome = AskOutcome<RouteListing | undefined>;

/** Lists the tools of all published routes as one. */
export class ToolLister {
  readonly #options: ToolListerOptions;
  readonly #asker: RouteAsker;

  constructor(options: ToolListerOptions) {
    this.#options = options;
    this.#asker = new RouteAsker(options.routes);
  }

  /**
   * Every route is listed, each within its own budget; one that fails or is late is left out and named. Sorted by name. What was
   * withdrawn meanwhile is not there. Rejects, with the first failure, only when every route failed.
   */
  async list(binding: Binding, signal: AbortSignal): Promise<ToolListing> {
    const { reach, maxListBytes, recall, shown } = this.#options;
    const give = this.#options.giving(binding);
    const scopes = reach.scopesOf(binding);
    const outcomes = await this.#askAll(binding, scopes, signal);
    // What is missing is worth a word, and not the whole list.
    const missing = scopes.length === 0 ? [] : await reach.missing(scopes).catch(nothing);
    if (missing.length > 0) await recall(scopes, missing.map(keyOf));
    signal.throwIfAborted();
    const left = reach.scopesOf(binding);
    if (scopes.some((scope) => !left.includes(scope))) return this.list(binding, signal);
    const { listed, omitted, failures } = this.#gather(outcomes);
    const parts: Part[] = listed.map(({ route: { connectorKey }, listing }) => ({
      connectorKey,
      listing: shown(binding, connectorKey, listing),
    }));
    const stale = this.#addStale(binding, scopes, missing, parts, omitted);
    if (failures.length > 0 && parts.length === 0) throw failures[0];
    const { kept, leftOut } = fitListings(parts, maxListBytes);
    for (const { connectorKey } of leftOut) omitted.push({ connectorKey, reason: TOO_LARGE });
    this.#report(listed, new Set(leftOut.map(({ connectorKey }) => connectorKey)));
    give(viewOf(parts), listed);
    return { tools: this.#toolsOf(kept), omitted: omitted.sort(byKey), stale };
  }

  #askAll(binding: Binding, scopes: readonly string[], signal: AbortSignal): Promise<readonly ListOutcome[]> {
    const { hasTools, listRoute, routes: table } = this.#options;
    const routes = table.list().filter(({ connectorKey, scope }) => scopes.includes(scope) && hasTools(connectorKey));
    return this.#asker.askAll(routes, signal, (route, joined) => listRoute(route, { binding, signal: joined }));
  }

  /** What was withdrawn since it was asked is left out without a word. */
  #gather(outcomes: readonly ListOutcome[]): Gathered {
    const { reach } = this.#options;
    const gathered: Gathered = { listed: [], omitted: [], failures: [] };
    for (const outcome of outcomes) {
      const { route } = outcome;
      if (route.state === "revoked") continue;
      if (outcome.kind === "found") {
        const { listing } = outcome;
        if (listing !== undefined) gathered.listed.push({ route, listing });
        else this.#omit(gathered, route, NO_CATALOG);
        continue;
      }
      const reason = omissionReason(outcome.error);
      reach.onFailure(route, outcome.error);
      this.#omit(gathered, route, reason);
      gathered.failures.push(outcome.error);
    }
    return gathered;
  }

  #omit({ omitted }: Gathered, route: Route<RemoteMcpClient>, reason: string): void {
    this.#options.reports.onOmitted(route, reason);
    omitted.push({ connectorKey: route.connectorKey, reason });
  }

  /** Connectors without a route are listed as they were last, where that is known; the others are named. */
  #addStale(
    binding: Binding,
    scopes: readonly string[],
    missing: readonly MissingConnector[],
    parts: Part[],
    omitted: OmittedConnector[],
  ): readonly OmittedConnector[] {
    const stale: OmittedConnector[] = [];
    const listed = new Set(parts.map(({ connectorKey }) => connectorKey));
    for (const { connectorKey, state } of missing) {
      // It came back after it was asked about.
      const { hasTools, lastListing, shown } = this.#options;
      if (listed.has(connectorKey) || !hasTools(connectorKey)) continue;
      const listing = lastListing(scopes, connectorKey);
      (listing === undefined ? omitted : stale).push({ connectorKey, reason: state });
      if (listing !== undefined) parts.push({ connectorKey, listing: shown(binding, connectorKey, listing) });
    }
    return stale;
  }

  #report(listed: readonly ListedRoute[], leftOut: ReadonlySet<string>): void {
    for (const { route, listing } of listed) {
      this.#options.reports.onListed(route, listing, leftOut.has(route.connectorKey) ? TOO_LARGE : undefined);
    }
  }

  /** A tool whose name leads to another connector by now is none of this list's. */
  #toolsOf(parts: readonly Part[]): readonly ExposedTool[] {
    const { namespaces } = this.#options;
    const tools: ExposedTool[] = [];
    for (const { connectorKey, listing } of parts) {
      for (const [name, { definition }] of listing.tools) {
        if (namespaces.locate(name)?.connectorKey === connectorKey) tools.push({ name, definition });
      }
    }
    return tools.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

function byKey(a: OmittedConnector, b: OmittedConnector): number {
  return a.connectorKey < b.connectorKey ? -1 : 1;
}

function keyOf({ connectorKey }: MissingConnector): string {
  return connectorKey;
}

const TOO_LARGE = "list_too_large";
const NO_CATALOG = "no_catalog";

function viewOf(parts: readonly Part[]): View {
  return new Map(parts.map(({ connectorKey, listing }) => [connectorKey, listing.digest]));
}

function nothing(): readonly MissingConnector[] {
  return [];
}
