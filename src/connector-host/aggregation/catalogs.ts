import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import type { RouteListing } from "./route-listing.js";

/** The last full list of a connector, and the settings that it was read with. */
export interface Catalog {
  readonly connectorKey: string;
  readonly scope: string;
  /** Digest of the settings, as routes have it. */
  readonly settingsDigest: string;
  readonly listing: RouteListing;
  /** When it was read, on the clock. */
  readonly fetchedAt: number;
}

export interface CatalogsOptions {
  readonly clock: Clock;
  /** The settings that the connector has now; `undefined` when only its routes know them. */
  readonly settingsOf: (connectorKey: string) => string | undefined;
}

const MAX_CATALOGS = 1_024;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Full lists that outlive their routes, in memory: at most 1,024 of them, with 64 MiB of definitions; the one that was read longest ago
 * goes first, and its connector is listed live again. A catalog belongs to the settings that it was read with, and is gone with them.
 */
export class Catalogs {
  readonly #options: CatalogsOptions;
  /** The one that was read longest ago first. */
  readonly #catalogs = new Map<string, Catalog>();
  #bytes = 0;

  constructor(options: CatalogsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#catalogs.size;
  }

  /** The catalog of a connector of one of the scopes. */
  find(scopes: readonly string[], connectorKey: string): Catalog | undefined {
    const catalog = this.#catalogs.get(connectorKey);
    if (catalog === undefined || !scopes.includes(catalog.scope)) return undefined;
    if (this.#isOf(connectorKey, catalog.settingsDigest)) return catalog;
    this.invalidate(connectorKey);
    return undefined;
  }

  /** The catalog of exactly this route's settings. */
  of({ connectorKey, scope, releaseDigest }: Route<RemoteMcpClient>): Catalog | undefined {
    const catalog = this.find([scope], connectorKey);
    return catalog?.settingsDigest === releaseDigest ? catalog : undefined;
  }

  /** The scope of a connector's catalog; `undefined` when it has none. */
  scopeOf(connectorKey: string): string | undefined {
    return this.#catalogs.get(connectorKey)?.scope;
  }

  /**
   * Publishes what a route listed, unless the connector has another route or other settings by now: `current` is its published route.
   * Answers whether it did. An empty list is one, too.
   */
  publish(route: Route<RemoteMcpClient>, listing: RouteListing, current: Route<RemoteMcpClient> | undefined): boolean {
    const { connectorKey, scope, releaseDigest: settingsDigest } = route;
    if (!this.#isOf(connectorKey, settingsDigest)) return false;
    // What a replaced route lists late is older than what its successor has.
    if (current !== undefined && current !== route) return false;
    const known = this.#catalogs.get(connectorKey)?.settingsDigest;
    if (current === undefined && known !== undefined && known !== settingsDigest) return false;
    this.invalidate(connectorKey);
    if (listing.bytes > MAX_BYTES) return false;
    const fetchedAt = this.#options.clock.now();
    this.#catalogs.set(connectorKey, { connectorKey, scope, settingsDigest, listing, fetchedAt });
    this.#bytes += listing.bytes;
    for (const oldest of this.#catalogs.keys()) {
      if (this.#catalogs.size <= MAX_CATALOGS && this.#bytes <= MAX_BYTES) break;
      this.invalidate(oldest);
    }
    return true;
  }

  /** A route is published: a catalog of other settings, or of another scope, is gone with the step. */
  onPublished({ connectorKey, scope, releaseDigest }: Route<RemoteMcpClient>): void {
    const catalog = this.#catalogs.get(connectorKey);
    if (catalog === undefined) return;
    if (catalog.settingsDigest !== releaseDigest || catalog.scope !== scope) this.invalidate(connectorKey);
  }

  /** Drops the catalog of a connector, or all. */
  invalidate(connectorKey?: string): void {
    if (connectorKey === undefined) {
      this.#catalogs.clear();
      this.#bytes = 0;
      return;
    }
    this.#bytes -= this.#catalogs.get(connectorKey)?.listing.bytes ?? 0;
    this.#catalogs.delete(connectorKey);
  }

  #isOf(connectorKey: string, settingsDigest: string): boolean {
    const now = this.#options.settingsOf(connectorKey);
    return now === undefined || now === settingsDigest;
  }
}
