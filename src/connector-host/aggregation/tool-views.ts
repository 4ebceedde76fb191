import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, ToolListing } from "../local-server/index.js";
import type { PublicationChange, Route } from "../routes/index.js";
import { CatalogViews, type CatalogReading } from "./catalog-views.js";
import { DescribedListings } from "./described-listings.js";
import type { ConnectorInstructions } from "./join-instructions.js";
import { type KnownTools, toolsOfActivation, toolsOfListing } from "./known-tools.js";
import { type ListeningAgents, ListNews } from "./list-news.js";
import { ListReports } from "./list-reports.js";
import type { AggregatedDirectoryOptions, ConnectorTraits } from "./ports.js";
import { PermittedListings } from "./permitted-listings.js";
import type { RouteListing } from "./route-listing.js";
import { type CallableTool, type ListReader, RouteListings, type WalkedTools } from "./route-listings.js";
import type { RouteFinder } from "./route-finder.js";
import type { Listed } from "./shared-walks.js";
import { type ListedRoute, ToolLister } from "./tool-lister.js";

export interface ToolViewsOptions extends AggregatedDirectoryOptions {
  readonly finder: RouteFinder;
  readonly traitsOf: (connectorKey: string) => ConnectorTraits;
  /** Whether the route's server would tell at once if its tools changed. */
  readonly isCovered: (route: Route<RemoteMcpClient>) => boolean;
}

/** What agents see of tools: live or from catalogs, and the news of it. */
export class ToolViews {
  readonly #options: ToolViewsOptions;
  readonly #listings: RouteListings;
  readonly #catalogs: CatalogViews;
  readonly #reports: ListReports;
  readonly #described: DescribedListings;
  readonly #permitted: PermittedListings;
  readonly #lister: ToolLister;
  readonly #news: ListNews;

  constructor(options: ToolViewsOptions) {
    this.#options = options;
    const { clock, reach, routes } = options;
    this.#reports = new ListReports(reach);
    this.#listings = new RouteListings({
      ...options,
      onListed: (route, listed, walked) => this.#onListed(route, listed, walked),
      onLateFailure: (route, error) => reach.onFailure(route, error),
    });
    this.#catalogs = new CatalogViews({
      ...options,
      listings: this.#listings,
      relist: (route, signal) => this.relist(route, signal),
    });
    this.#described = new DescribedListings({
      tablesOf: reach.descriptionsOf && ((key, binding) => reach.descriptionsOf?.(key, binding) ?? []),
      onDiagnostics: (key, diagnostics) => reach.onUnfitDescriptions?.(key, diagnostics),
    });
    this.#permitted = new PermittedListings(reach.access);
    this.#lister = new ToolLister({
      ...options,
      reports: this.#reports,
      hasTools: (key) => this.hasTools(key) && this.#mayHoldTools(key),
      listRoute: (route, reader) => this.#listRoute(route, reader),
      recall: (scopes, keys) => this.#catalogs.recall(scopes, keys),
      lastListing: (scopes, key) => this.#catalogs.find(scopes, key)?.listing,
      shown: (binding, key, listing) => this.#shown(binding, key, listing),
      giving: (binding) => {
        const give = this.#news.giving(binding);
        return (view, asked) => {
          give(view);
          for (const given of asked) this.#noteOlder(given);
        };
      },
    });
    this.#news = new ListNews({
      kind: "tools",
      clock,
      reach,
      isKnown: (connectorKey) => this.#isKnown(connectorKey),
      differs: (scopes, connectorKey, digest, binding) => this.#differs(scopes, connectorKey, digest, binding),
    });
    // What is published before somebody lists has its catalog from its activation.
    for (const route of routes.list()) this.#onPublished(route);
  }

  list(binding: Binding, signal: AbortSignal): Promise<ToolListing> {
    return this.#lister.list(binding, signal);
  }

  /** Whether the connector is opened for tools. */
  hasTools(connectorKey: string): boolean {
    return this.#options.traitsOf(connectorKey).capabilities.includes("tools");
  }

  /** The tool as it was listed last, if a call may be made with that without asking the server. */
  callable(route: Route<RemoteMcpClient>, exposedName: string): CallableTool | undefined {
    const { isCovered, traitsOf } = this.#options;
    if (traitsOf(route.connectorKey).contracts === "last_list")
      return this.#listings.lastValid(route)?.get(exposedName);
    return isCovered(route) ? this.#listings.valid(route)?.tools.get(exposedName) : undefined;
  }

  /** The tool's own name by the last list, however old that is. */
  nativeName(route: Route<RemoteMcpClient>, exposedName: string): string | undefined {
    return this.#listings.last(route).get(exposedName)?.nativeName;
  }

  /**
   * The tool that a call is made with: from the connector's catalog, for which nobody is asked, or as its server lists it now or, where the
   * last list will do, listed it last. Rejects as `relist`, and as `CatalogViews.findTool`.
   */
  async find(
    route: Route<RemoteMcpClient>,
    exposedName: string,
    signal: AbortSignal,
  ): Promise<CallableTool | undefined> {
    if (this.#catalogs.areOf(route.connectorKey)) return this.#catalogs.findTool(route, exposedName);
    try {
      return (await this.relist(route, signal)).tools.get(exposedName);
    } catch (error) {
      const mayBeOld = this.#options.traitsOf(route.connectorKey).contracts === "last_list" && !signal.aborted;
      const known = mayBeOld ? this.#listings.last(route).get(exposedName) : undefined;
      if (known === undefined) throw error;
      return known;
    }
  }

  /** The tools of a connector of the scopes as they were listed last, for people. No server is asked. */
  async known(scopes: readonly string[], connectorKey: string): Promise<KnownTools | undefined> {
    const route = this.#options.finder.current(scopes, connectorKey);
    const catalog = await this.#catalogs.load(scopes, connectorKey);
    const listing = catalog?.listing ?? (route && this.#listings.newest(route));
    if (listing === undefined && route === undefined) return undefined;
    const tools = listing === undefined ? route && toolsOfActivation(route) : toolsOfListing(listing);
    return { tools: tools ?? [], fetchedAt: catalog?.fetchedAt, isStale: route === undefined };
  }

  /** What the route lists now. Rejects with what its client rejects with, and the signal's reason. */
  async relist(route: Route<RemoteMcpClient>, signal: AbortSignal): Promise<RouteListing> {
    try {
      return await this.#listings.listPatiently(route, signal);
    } catch (error) {
      if (!signal.aborted) this.#options.reach.onFailure(route, error);
      throw error;
    }
  }

  /** The route's tools did change: agents that listen are told, if what they see did. */
  hasChanged(route: Route<RemoteMcpClient>): void {
    this.#onNews(route, true);
  }

  /** The route's tools may have changed. */
  mayHaveChanged(route: Route<RemoteMcpClient>): void {
    this.#onNews(route, false);
  }

  /** What agents see of the connector may be other tools, or other descriptions, by what people decided. */
  onPermissionChange(connectorKey: string): void {
    const scope = this.#options.routes.current(connectorKey)?.scope ?? this.#catalogs.scopeOf(connectorKey);
    if (scope !== undefined) this.#news.note(scope, connectorKey, true);
  }

  onPublication(changes: readonly PublicationChange<RemoteMcpClient>[]): void {
    for (const { connectorKey, previous, current } of changes) {
      if (current === undefined) this.#reports.forget(connectorKey);
      else this.#onPublished(current);
      if (previous !== undefined) this.#catalogs.onWithdrawn(previous);
      for (const route of [previous, current]) {
        if (route !== undefined) this.#news.note(route.scope, connectorKey, !this.#isUnread(current));
      }
    }
  }

  /** Drops the catalogs in memory, of a connector or all: what is kept of them is read again. */
  invalidate(connectorKey?: string): void {
    this.#catalogs.invalidate(connectorKey);
  }

  /** The connector is no more, or has other settings. */
  forget(connectorKey: string): void {
    this.#catalogs.forget(connectorKey);
  }

  /** The catalog of a connector is out of date: it is read anew, and nobody waits for that. */
  outdate(connectorKey: string): void {
    const route = this.#options.routes.current(connectorKey);
    if (route !== undefined) this.mayHaveChanged(route);
  }

  /** As {@link CatalogViews.read}. */
  readCatalog(scopes: readonly string[], connectorKey: string, signal: AbortSignal): Promise<CatalogReading> {
    return this.#catalogs.read(scopes, connectorKey, signal);
  }

  /** As {@link CatalogViews.refresh}. */
  refreshCatalog(scopes: readonly string[], connectorKey: string, signal: AbortSignal): Promise<CatalogReading> {
    return this.#catalogs.refresh(scopes, connectorKey, signal);
  }

  /** What the servers of the published routes in the scopes said at their activation, by key. */
  *instructions(scopes: readonly string[]): Generator<ConnectorInstructions, void, undefined> {
    for (const { connectorKey, scope, discovered } of this.#options.routes.list()) {
      const text = discovered?.instructions;
      const isShown = scopes.includes(scope) && this.#isUsable(connectorKey);
      if (typeof text === "string" && isShown) yield { connectorKey, text };
    }
  }

  listenFor(agents: ListeningAgents): void {
    this.#news.listenFor(agents);
  }

  close(): void {
    this.#news.close();
    this.#catalogs.close();
  }

  /** `undefined`: nothing is known of a connector that is listed from its catalog. */
  #listRoute(route: Route<RemoteMcpClient>, reader: ListReader): Promise<RouteListing | undefined> {
    const isCatalog = this.#catalogs.areOf(route.connectorKey);
    return isCatalog ? this.#catalogs.list(route) : this.#listings.list(route, reader);
  }

  /** What a binding sees of a connector's listing. */
  #shown(binding: Binding, connectorKey: string, listing: RouteListing): RouteListing {
    return this.#permitted.of(connectorKey, this.#described.of(connectorKey, binding, listing));
  }

  #mayHoldTools(connectorKey: string): boolean {
    return this.#options.reach.access?.mayHoldTools(connectorKey) ?? true;
  }

  /** Whether agents may have anything of the connector. */
  #isUsable(connectorKey: string): boolean {
    const { capabilities } = this.#options.traitsOf(connectorKey);
    return capabilities.some((capability) => capability !== "tools") || this.#mayHoldTools(connectorKey);
  }

  #onPublished(route: Route<RemoteMcpClient>): void {
    this.#catalogs.onPublished(route);
  }

  /** Whoever was told of it before its catalog was read would get the old one: there are no news of it until then. */
  #onNews(route: Route<RemoteMcpClient>, isCertain: boolean): void {
    this.#listings.invalidate(route);
    if (this.#catalogs.areOf(route.connectorKey)) this.#catalogs.refreshSoon(route, isCertain);
    else this.#news.note(route.scope, route.connectorKey, isCertain);
  }

  /** Whether what the route lists is yet to be read for its catalog. */
  #isUnread(route: Route<RemoteMcpClient> | undefined): boolean {
    return route !== undefined && this.#catalogs.areOf(route.connectorKey) && this.#catalogs.of(route) === undefined;
  }

  #onListed(route: Route<RemoteMcpClient>, listed: Listed<RouteListing>, walked: WalkedTools | undefined): void {
    const { listing, wasMissed, before } = listed;
    const isOther = this.#catalogs.areOf(route.connectorKey)
      ? this.#catalogs.onListed(route, listed, walked)
      : before !== undefined && before.digest !== listing.digest;
    if (wasMissed || isOther) this.#news.note(route.scope, route.connectorKey, true);
  }

  /** Whether it is known, without asking its server, what agents would get of the connector. */
  #isKnown(connectorKey: string): boolean {
    const route = this.#options.routes.current(connectorKey);
    const isAsked = route !== undefined && !this.#catalogs.areOf(connectorKey);
    return !isAsked || this.#listings.valid(route) !== undefined;
  }

  /** What was given can be older than what is known by now, if the news of that came between. */
  #noteOlder({ route, listing }: ListedRoute): void {
    const isCurrent = this.#options.routes.isCurrent(route);
    const known = this.#catalogs.of(route)?.listing ?? this.#listings.valid(route);
    const isNewest = known === listing;
    if (!isCurrent || !isNewest) this.#news.note(route.scope, route.connectorKey, false);
  }

  async #differs(scopes: readonly string[], connectorKey: string, digest: string, binding: Binding): Promise<boolean> {
    if (!this.hasTools(connectorKey) || !this.#mayHoldTools(connectorKey)) return digest !== "";
    const shown = (listing: RouteListing): string => this.#shown(binding, connectorKey, listing).digest;
    const route = this.#options.routes.current(connectorKey);
    if (route !== undefined && scopes.includes(route.scope)) {
      if (this.#catalogs.areOf(connectorKey)) {
        const catalog = await this.#catalogs.loadOf(route);
        return (catalog === undefined ? "" : shown(catalog.listing)) !== digest;
      }
      // That there is a route is known to be new already; what it lists is not worth a walk.
      if (digest === "" && this.#listings.newest(route) === undefined && route.tools.size > 0) return true;
      return shown(this.#listings.valid(route) ?? (await this.relist(route, route.signal))) !== digest;
    }
    const catalog = await this.#catalogs.load(scopes, connectorKey);
    const isMissing = async (): Promise<boolean> =>
      (await this.#options.reach.missing(scopes)).some((one) => one.connectorKey === connectorKey);
    const isLeft = catalog !== undefined && (await isMissing());
    return (isLeft ? shown(catalog.listing) : "") !== digest;
  }
}
