import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding, ToolListing } from "../local-server/index.js";
import type { PublicationChange, Route } from "../routes/index.js";
import { Catalogs } from "./catalogs.js";
import type { ConnectorInstructions } from "./join-instructions.js";
import { type ListeningAgents, ListNews } from "./list-news.js";
import { ListReports } from "./list-reports.js";
import type { AggregatedDirectoryOptions, ConnectorTraits } from "./ports.js";
import { PermittedListings } from "./permitted-listings.js";
import { nameListing, type NativeTool, type RouteListing } from "./route-listing.js";
import { type CallableTool, type ListReader, RouteListings } from "./route-listings.js";
import type { Listed } from "./shared-walks.js";
import { type ListedRoute, ToolLister } from "./tool-lister.js";

export interface ToolViewsOptions extends AggregatedDirectoryOptions {
  readonly traitsOf: (connectorKey: string) => ConnectorTraits;
  /** Whether the route's server would tell at once if its tools changed. */
  readonly isCovered: (route: Route<RemoteMcpClient>) => boolean;
}

/** A catalog that nobody would tell of changes of is read anew after that time, when it is listed. */
const CATALOG_MS = 60_000;

/** What agents see of tools: live or from catalogs, and the news of it. */
export class ToolViews {
  readonly #options: ToolViewsOptions;
  readonly #listings: RouteListings;
  readonly #catalogs: Catalogs;
  readonly #reports: ListReports;
  readonly #permitted: PermittedListings;
  readonly #lister: ToolLister;
  readonly #news: ListNews;
  /** The routes whose catalog is being read anew. */
  readonly #refreshing = new WeakSet<Route<RemoteMcpClient>>();

  constructor(options: ToolViewsOptions) {
    this.#options = options;
    const { clock, reach, routes, traitsOf } = options;
    this.#reports = new ListReports(reach);
    this.#catalogs = new Catalogs({ clock, settingsOf: (key) => traitsOf(key).settingsDigest });
    this.#listings = new RouteListings({
      ...options,
      onListed: (route, listed) => this.#onListed(route, listed),
      onLateFailure: (route, error) => reach.onFailure(route, error),
    });
    this.#permitted = new PermittedListings(reach.access);
    this.#lister = new ToolLister({
      ...options,
      reports: this.#reports,
      hasTools: (key) => this.hasTools(key) && this.#mayHoldTools(key),
      listRoute: (route, reader) => this.#listRoute(route, reader),
      lastListing: (scopes, key) => this.#catalogs.find(scopes, key)?.listing,
      permitted: (key, listing) => this.#permitted.of(key, listing),
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
      differs: (scopes, connectorKey, digest) => this.#differs(scopes, connectorKey, digest),
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

  /** The tool that a call is made with, as its server lists it now or, where the last list will do, listed it last. Rejects as `relist`. */
  async find(
    route: Route<RemoteMcpClient>,
    exposedName: string,
    signal: AbortSignal,
  ): Promise<CallableTool | undefined> {
    try {
      return (await this.relist(route, signal)).tools.get(exposedName);
    } catch (error) {
      const mayBeOld = this.#options.traitsOf(route.connectorKey).contracts === "last_list" && !signal.aborted;
      const known = mayBeOld ? this.#listings.last(route).get(exposedName) : undefined;
      if (known === undefined) throw error;
      return known;
    }
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
    this.#listings.invalidate(route);
    this.#news.note(route.scope, route.connectorKey, true);
  }

  /** The route's tools may have changed. */
  mayHaveChanged(route: Route<RemoteMcpClient>): void {
    this.#listings.invalidate(route);
    this.#news.note(route.scope, route.connectorKey, false);
  }

  /** Tools of the connector came into lists, or went out of them, by what may be done with them. */
  onPermissionChange(connectorKey: string): void {
    const scope = this.#options.routes.current(connectorKey)?.scope ?? this.#catalogs.scopeOf(connectorKey);
    if (scope !== undefined) this.#news.note(scope, connectorKey, true);
  }

  onPublication(changes: readonly PublicationChange<RemoteMcpClient>[]): void {
    for (const { connectorKey, previous, current } of changes) {
      if (current === undefined) this.#reports.forget(connectorKey);
      else this.#onPublished(current);
      for (const route of [previous, current]) {
        if (route !== undefined) this.#news.note(route.scope, connectorKey, true);
      }
    }
  }

  /** Drops the catalog of a connector, or all: it is read anew. */
  invalidate(connectorKey?: string): void {
    this.#catalogs.invalidate(connectorKey);
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
    this.#catalogs.invalidate();
  }

  async #listRoute(route: Route<RemoteMcpClient>, reader: ListReader): Promise<RouteListing> {
    const catalog = this.#isCatalog(route) ? this.#catalogs.of(route) : undefined;
    if (catalog === undefined) return this.#listings.list(route, reader);
    const { clock, isCovered } = this.#options;
    const isOld = clock.now() - catalog.fetchedAt >= CATALOG_MS && !isCovered(route);
    if (isOld || this.#listings.isOutdated(route)) this.#refresh(route);
    return catalog.listing;
  }

  /** Reads a catalog anew behind the answer that it gives. A failure leaves it as it is. */
  #refresh(route: Route<RemoteMcpClient>): void {
    if (this.#refreshing.has(route)) return;
    this.#refreshing.add(route);
    const refreshed = (): void => {
      this.#refreshing.delete(route);
      this.#news.note(route.scope, route.connectorKey, false);
    };
    this.relist(route, route.signal).then(refreshed, () => this.#refreshing.delete(route));
  }

  #mayHoldTools(connectorKey: string): boolean {
    return this.#options.reach.access?.mayHoldTools(connectorKey) ?? true;
  }

  /** Whether agents may have anything of the connector. */
  #isUsable(connectorKey: string): boolean {
    const { capabilities } = this.#options.traitsOf(connectorKey);
    return capabilities.some((capability) => capability !== "tools") || this.#mayHoldTools(connectorKey);
  }

  #isCatalog({ connectorKey }: Route<RemoteMcpClient>): boolean {
    return this.#options.traitsOf(connectorKey).listing === "catalog";
  }

  #onPublished(route: Route<RemoteMcpClient>): void {
    this.#catalogs.onPublished(route);
    const native = this.#isCatalog(route) ? nativeToolsOf(route) : undefined;
    if (native !== undefined) this.#publish(route, nameListing(this.#options.namespaces, route.connectorKey, native));
  }

  #publish(route: Route<RemoteMcpClient>, listing: RouteListing): void {
    this.#catalogs.publish(route, listing, this.#options.routes.current(route.connectorKey));
  }

  #onListed(route: Route<RemoteMcpClient>, { listing, wasMissed, before }: Listed<RouteListing>): void {
    const isCatalog = this.#isCatalog(route);
    const known = (isCatalog ? this.#catalogs.of(route)?.listing : undefined) ?? before;
    if (isCatalog) this.#publish(route, listing);
    const isOther = known !== undefined && known.digest !== listing.digest;
    if (wasMissed || isOther) this.#news.note(route.scope, route.connectorKey, true);
  }

  /** What was given can be older than what is known by now, if the news of that came between. */
  #noteOlder({ route, listing }: ListedRoute): void {
    const isCurrent = this.#options.routes.isCurrent(route);
    const catalog = this.#isCatalog(route) ? this.#catalogs.of(route) : undefined;
    const known = catalog?.listing ?? this.#listings.valid(route);
    const isNewest = known === listing;
    if (!isCurrent || !isNewest) this.#news.note(route.scope, route.connectorKey, false);
  }

  async #differs(scopes: readonly string[], connectorKey: string, digest: string): Promise<boolean> {
    const { reach, routes } = this.#options;
    const route = routes.current(connectorKey);
    if (!this.hasTools(connectorKey) || !this.#mayHoldTools(connectorKey)) return digest !== "";
    if (route !== undefined && scopes.includes(route.scope)) {
      // That there is a route is known to be new already; what it lists is not worth a walk.
      if (digest === "" && this.#listings.newest(route) === undefined && route.tools.size > 0) return true;
      const listing = this.#listings.valid(route) ?? (await this.relist(route, route.signal));
      return this.#permitted.of(connectorKey, listing).digest !== digest;
    }
    const catalog = this.#catalogs.find(scopes, connectorKey);
    const isMissing = async () => (await reach.missing(scopes)).some((one) => one.connectorKey === connectorKey);
    const isLeft = catalog !== undefined && (await isMissing());
    const left = isLeft ? this.#permitted.of(connectorKey, catalog.listing).digest : "";
    return left !== digest;
  }
}

/** What a route's activation listed, if it kept the definitions. That it has none can also be that its list failed. */
function nativeToolsOf({ tools }: Route<RemoteMcpClient>): readonly NativeTool[] | undefined {
  if (tools.size === 0) return undefined;
  const native: NativeTool[] = [];
  for (const [nativeName, { contract, definition }] of tools) {
    if (definition === undefined) return undefined;
    native.push({ nativeName, contract, definition });
  }
  return native;
}
