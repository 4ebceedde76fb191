import { RemoteConnectorError } from "../../errors.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import { CatalogRefreshes } from "./catalog-refreshes.js";
import { type Catalog, Catalogs, type CatalogSource } from "./catalogs.js";
import type { NativeTool } from "./native-tools.js";
import type { AggregatedDirectoryOptions, ConnectorTraits } from "./ports.js";
import { type RouteFinder, unavailable } from "./route-finder.js";
import { nameListing, type RouteListing } from "./route-listing.js";
import type { CallableTool, RouteListings, WalkedTools } from "./route-listings.js";
import type { Listed } from "./shared-walks.js";

export interface CatalogViewsOptions extends AggregatedDirectoryOptions {
  readonly finder: RouteFinder;
  readonly listings: RouteListings;
  readonly traitsOf: (connectorKey: string) => ConnectorTraits;
  /** Whether the route's server would tell at once if its tools changed. */
  readonly isCovered: (route: Route<RemoteMcpClient>) => boolean;
  /** Walks a route's list now. */
  readonly relist: (route: Route<RemoteMcpClient>, signal: AbortSignal) => Promise<RouteListing>;
}

/** A catalog, and where it came from. */
export interface CatalogReading {
  readonly catalog: Catalog;
  readonly source: "memory" | "disk" | "network";
  /** Its server can't be asked now. */
  readonly isStale: boolean;
}

/** A catalog that nobody would tell of changes of is read anew after that time, when it is listed. */
const CATALOG_MS = 60_000;

/**
 * What is seen of connectors that are listed from catalogs. For agents, from memory or from what is kept, and no server is asked while they
 * wait; for people, from its server where nothing is known, or where they want that.
 */
export class CatalogViews {
  readonly #options: CatalogViewsOptions;
  readonly #catalogs: Catalogs;
  readonly #refreshes: CatalogRefreshes;

  constructor(options: CatalogViewsOptions) {
    this.#options = options;
    const { catalogs: rows, checkSchema, clock, namespaces, now = () => clock.now(), reach, traitsOf } = options;
    const { listings, random, relist, routes } = options;
    const onFault = reach.onCatalogFault?.bind(reach) ?? ignore;
    this.#catalogs = new Catalogs({ clock, now, namespaces, rows, checkSchema, traitsOf, onFault });
    this.#refreshes = new CatalogRefreshes({
      clock,
      random,
      relist,
      isCurrent: (route) => routes.isCurrent(route),
      isOutdated: (route) => listings.isOutdated(route),
      hasCatalog: (route) => this.#catalogs.of(route) !== undefined,
    });
  }

  /** Whether the connector is listed from catalogs. */
  areOf(connectorKey: string): boolean {
    return this.#options.traitsOf(connectorKey).listing === "catalog";
  }

  find(scopes: readonly string[], connectorKey: string): Catalog | undefined {
    return this.#catalogs.find(scopes, connectorKey);
  }

  load(scopes: readonly string[], connectorKey: string): Promise<Catalog | undefined> {
    return this.#catalogs.load(scopes, connectorKey);
  }

  of(route: Route<RemoteMcpClient>): Catalog | undefined {
    return this.#catalogs.of(route);
  }

  loadOf(route: Route<RemoteMcpClient>): Promise<Catalog | undefined> {
    return this.#catalogs.loadOf(route);
  }

  scopeOf(connectorKey: string): string | undefined {
    return this.#catalogs.scopeOf(connectorKey);
  }

  /** Reads what is kept of these connectors into memory. */
  async recall(scopes: readonly string[], connectorKeys: readonly string[]): Promise<void> {
    for (const connectorKey of connectorKeys) {
      if (this.#catalogs.find(scopes, connectorKey) === undefined) await this.#catalogs.load(scopes, connectorKey);
    }
  }

  /** The catalog of a route; `undefined` when there is none yet. One that may be old is read anew behind this answer. */
  async list(route: Route<RemoteMcpClient>): Promise<RouteListing | undefined> {
    const catalog = await this.#catalogs.loadOf(route);
    if (catalog === undefined || this.#isOld(route, catalog)) this.#refreshes.now(route);
    return catalog?.listing;
  }

  /**
   * The tool that a call is made with, by the catalog; `undefined` for one that is not in it. Rejects with `route_unavailable` when there is
   * no catalog yet. In both cases it is read anew, and the call does not wait for that.
   */
  async findTool(route: Route<RemoteMcpClient>, exposedName: string): Promise<CallableTool | undefined> {
    const catalog = await this.#catalogs.loadOf(route);
    const known = this.#options.listings.last(route).get(exposedName) ?? catalog?.listing.tools.get(exposedName);
    if (known !== undefined) return known;
    if (catalog === undefined || this.#isOld(route, catalog)) this.#refreshes.now(route);
    if (catalog !== undefined) return undefined;
    const { connectorKey } = route;
    throw unavailable(connectorKey, { connectorKey, state: "no_catalog", nextAttemptAt: undefined });
  }

  /** Reads a catalog anew, soon, and while nobody waits. A failure leaves it as it is. `isTold`: its server said that it changed. */
  refreshSoon(route: Route<RemoteMcpClient>, isTold: boolean): void {
    this.#refreshes.soon(route, isTold);
  }

  /** From memory, from what is kept, or else as {@link refresh}. */
  async read(scopes: readonly string[], connectorKey: string, signal: AbortSignal): Promise<CatalogReading> {
    this.#assertShown(connectorKey);
    const known = this.#catalogs.find(scopes, connectorKey);
    const catalog = known ?? (await this.#catalogs.load(scopes, connectorKey));
    if (catalog === undefined) return this.refresh(scopes, connectorKey, signal);
    const isStale = this.#options.finder.current(scopes, connectorKey) === undefined;
    return { catalog, source: known === undefined ? "disk" : "memory", isStale };
  }

  /**
   * From the connector's server, which is woken for it. The old catalog stays when this fails, and is not what it resolves to.
   *
   * Rejects with what the client rejects with, with `unknown_connector`, with `route_unavailable` when the connector is paused or did
   * not come in time, and with `cancelled` when its settings are others by then.
   */
  async refresh(scopes: readonly string[], connectorKey: string, signal: AbortSignal): Promise<CatalogReading> {
    this.#assertShown(connectorKey);
    const { finder, listings, relist } = this.#options;
    const route = await finder.find(scopes, connectorKey, signal);
    if (route === undefined) throw unavailable(connectorKey, undefined);
    // A walk that began before this was asked for may be of what was before.
    listings.invalidate(route);
    const listing = await relist(route, signal);
    const catalog = this.#catalogs.of(route);
    if (catalog === undefined || catalog.listing !== listing) throw notPublished(connectorKey);
    return { catalog, source: "network", isStale: false };
  }

  /** A route is published: what its activation listed is its catalog. Where it kept nothing, its server is asked, soon. */
  onPublished(route: Route<RemoteMcpClient>): void {
    this.#catalogs.onPublished(route);
    if (!this.areOf(route.connectorKey)) return;
    const native = nativeToolsOf(route);
    if (native !== undefined) {
      const listing = nameListing(this.#options.namespaces, route.connectorKey, native);
      this.#publish(route, { listing, native, ttlMs: route.toolsTtlMs });
    }
    if (this.#catalogs.of(route) === undefined) this.refreshSoon(route, false);
  }

  /** A route of a connector with catalogs was listed, after what it had `before`. Answers whether that made its catalog another one. */
  onListed(
    route: Route<RemoteMcpClient>,
    { listing, before }: Pick<Listed<RouteListing>, "before" | "listing">,
    walked: WalkedTools | undefined,
  ): boolean {
    const known = this.#catalogs.of(route)?.listing ?? before;
    const isPublished = this.#publish(route, { listing, native: walked?.native, ttlMs: walked?.ttlMs });
    return isPublished && known?.digest !== listing.digest;
  }

  /** A route is no more. */
  onWithdrawn(route: Route<RemoteMcpClient>): void {
    this.#refreshes.forget(route);
  }

  invalidate(connectorKey?: string): void {
    this.#catalogs.invalidate(connectorKey);
  }

  forget(connectorKey: string): void {
    this.#catalogs.forget(connectorKey);
  }

  close(): void {
    this.#refreshes.close();
    this.#catalogs.close();
  }

  #publish(route: Route<RemoteMcpClient>, source: CatalogSource): boolean {
    return this.#catalogs.publish(route, source, this.#options.routes.current(route.connectorKey));
  }

  /** The gate comes first: of what may not be used, nothing is read and nothing shown. */
  #assertShown(connectorKey: string): void {
    if (this.#catalogs.mayShow(connectorKey)) return;
    throw unavailable(connectorKey, { connectorKey, state: "disabled", nextAttemptAt: undefined });
  }

  #isOld(route: Route<RemoteMcpClient>, { readAt }: Catalog): boolean {
    const { clock, isCovered, listings } = this.#options;
    if (listings.isOutdated(route) || readAt === undefined) return true;
    return clock.now() - readAt >= CATALOG_MS && !isCovered(route);
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

function notPublished(connectorKey: string): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: `The settings or the route of ${connectorKey} changed while its tools were listed.`,
    details: { reason: "settings_changed" },
  });
}

function ignore(): void {}
