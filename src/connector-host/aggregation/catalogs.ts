import type { SchemaCheck } from "../../protocol/json-schema/index.js";
import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { NamespaceTable } from "../naming/index.js";
import type { Route } from "../routes/index.js";
import { CatalogShelf } from "./catalog-shelf.js";
import { type CatalogFacts, readCatalog } from "./catalog-text.js";
import { definitionsDigest, type NativeTool } from "./native-tools.js";
import type { CatalogFault, CatalogRows, ConnectorTraits } from "./ports.js";
import { nameListing, type RouteListing } from "./route-listing.js";

/** The last full list of a connector, and the settings that it was read with. */
export interface Catalog extends CatalogFacts {
  readonly listing: RouteListing;
  /** When it was read, on the clock; `undefined` for one that was kept: nobody knows how old it is on this clock. */
  readonly readAt: number | undefined;
}

/** A list that a route gave. */
export interface CatalogSource {
  readonly listing: RouteListing;
  /** What it was made of. Left out: it is not kept anew. */
  readonly native: readonly NativeTool[] | undefined;
  readonly ttlMs: number | undefined;
}

export interface CatalogsOptions {
  readonly clock: Clock;
  /** Wall time in epoch milliseconds. */
  readonly now: () => number;
  readonly namespaces: NamespaceTable;
  readonly rows: CatalogRows | undefined;
  readonly checkSchema: SchemaCheck | undefined;
  readonly traitsOf: (connectorKey: string) => Pick<ConnectorTraits, "isActive" | "listing" | "settingsDigest">;
  readonly onFault: (fault: CatalogFault) => void;
}

const MAX_CATALOGS = 1_024;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Full lists that outlive their routes, in memory and, where there are rows, the process. In memory are at most 1,024 of them, with 64 MiB
 * of definitions; the one that was read longest ago goes first, and is read from its row again. A catalog belongs to the settings that it
 * was read with, and is gone with them; that of a connector that is paused is neither shown nor read.
 */
export class Catalogs {
  readonly #options: CatalogsOptions;
  readonly #shelf: CatalogShelf;
  /** The one that was read longest ago first. */
  readonly #catalogs = new Map<string, Catalog>();
  readonly #loading = new Map<string, Promise<void>>();
  /** Of which nothing is kept: they are not looked for again until something is. */
  readonly #absent = new Set<string>();
  #bytes = 0;

  constructor(options: CatalogsOptions) {
    this.#options = options;
    this.#shelf = new CatalogShelf(options.rows, options.onFault);
  }

  get size(): number {
    return this.#catalogs.size;
  }

  /** Whether the connector has catalogs, and its own may be shown now. */
  mayShow(connectorKey: string): boolean {
    const { isActive = true, listing } = this.#options.traitsOf(connectorKey);
    return isActive && listing === "catalog";
  }

  /** The catalog of a connector of one of the scopes, if it is in memory. */
  find(scopes: readonly string[], connectorKey: string): Catalog | undefined {
    if (!this.mayShow(connectorKey)) return undefined;
    const catalog = this.#catalogs.get(connectorKey);
    if (catalog === undefined || !scopes.includes(catalog.scope)) return undefined;
    if (this.#isOf(connectorKey, catalog.settingsDigest)) return catalog;
    this.invalidate(connectorKey);
    return undefined;
  }

  /** As {@link find}; where it is not in memory, it is read from what is kept. No network, and never rejects. */
  async load(scopes: readonly string[], connectorKey: string): Promise<Catalog | undefined> {
    const known = this.find(scopes, connectorKey);
    const { rows } = this.#options;
    const isNone = this.#catalogs.has(connectorKey) || this.#absent.has(connectorKey);
    if (known !== undefined || rows === undefined || isNone || !this.mayShow(connectorKey)) return known;
    let loading = this.#loading.get(connectorKey);
    if (loading === undefined) {
      loading = this.#read(rows, connectorKey).finally(() => this.#loading.delete(connectorKey));
      this.#loading.set(connectorKey, loading);
    }
    await loading;
    return this.find(scopes, connectorKey);
  }

  /** The catalog of exactly this route's settings, if it is in memory. */
  of({ connectorKey, scope, releaseDigest }: Route<RemoteMcpClient>): Catalog | undefined {
    const catalog = this.find([scope], connectorKey);
    return catalog?.settingsDigest === releaseDigest ? catalog : undefined;
  }

  /** As {@link of}, from memory or from what is kept. */
  async loadOf(route: Route<RemoteMcpClient>): Promise<Catalog | undefined> {
    await this.load([route.scope], route.connectorKey);
    return this.of(route);
  }

  /** The scope of a connector's catalog; `undefined` when none is in memory. */
  scopeOf(connectorKey: string): string | undefined {
    return this.#catalogs.get(connectorKey)?.scope;
  }

  /**
   * Publishes what a route listed, unless the connector has another route or other settings by now: `current` is its published route.
   * Answers whether it did. An empty list is one, too. It is kept behind that; when it can't be, it is in memory only.
   */
  publish(route: Route<RemoteMcpClient>, source: CatalogSource, current: Route<RemoteMcpClient> | undefined): boolean {
    const { connectorKey, scope, releaseDigest: settingsDigest } = route;
    const { listing, native, ttlMs } = source;
    if (!this.#isOf(connectorKey, settingsDigest)) return false;
    // What a replaced route lists late is older than what its successor has.
    if (current !== undefined && current !== route) return false;
    const known = this.#catalogs.get(connectorKey);
    const isOther = known !== undefined && known.settingsDigest !== settingsDigest;
    if (current === undefined && isOther) return false;
    this.#drop(connectorKey);
    if (listing.bytes > MAX_BYTES) return false;
    const digest = native === undefined ? (known?.digest ?? "") : definitionsDigest(native.map(definitionOf));
    const { clock, now } = this.#options;
    const facts = { connectorKey, scope, settingsDigest, digest, fetchedAt: now(), ttlMs };
    this.#put({ ...facts, listing, readAt: clock.now() });
    if (native !== undefined) this.#shelf.keep(facts, native, () => this.#isOf(connectorKey, settingsDigest));
    return true;
  }

  /** A route is published: a catalog of other settings, or of another scope, is gone with the step. */
  onPublished({ connectorKey, scope, releaseDigest }: Route<RemoteMcpClient>): void {
    const catalog = this.#catalogs.get(connectorKey);
    if (catalog === undefined) return;
    if (catalog.settingsDigest !== releaseDigest || catalog.scope !== scope) this.invalidate(connectorKey);
  }

  /** Drops what is in memory of a connector, or of all: what is kept is read again. */
  invalidate(connectorKey?: string): void {
    if (connectorKey !== undefined) {
      this.#drop(connectorKey);
      return;
    }
    this.#catalogs.clear();
    this.#absent.clear();
    this.#bytes = 0;
  }

  /** The connector is no more, or has other settings: nothing of its catalog is left, neither in memory nor kept. */
  forget(connectorKey: string): void {
    this.#drop(connectorKey);
    this.#shelf.remove(connectorKey);
  }

  /** Keeps nothing any more. */
  close(): void {
    this.#shelf.close();
    this.invalidate();
  }

  async #read(rows: CatalogRows, connectorKey: string): Promise<void> {
    const { checkSchema, namespaces, onFault, traitsOf } = this.#options;
    let text: string | undefined;
    try {
      text = await rows.read(connectorKey);
    } catch (error) {
      onFault({ kind: "not_read", connectorKey, error });
      return;
    }
    // Paused, removed or listed meanwhile: what is kept is not looked at, or older.
    if (!this.mayShow(connectorKey) || this.#catalogs.has(connectorKey)) return;
    if (text === undefined) {
      this.#absent.add(connectorKey);
      return;
    }
    const { settingsDigest } = traitsOf(connectorKey);
    const kept = readCatalog(text, { connectorKey, settingsDigest }, checkSchema);
    if (kept.kind === "refused") {
      this.#absent.add(connectorKey);
      onFault({ kind: "dropped", connectorKey, reason: kept.reason });
      this.#shelf.remove(connectorKey);
      return;
    }
    const listing = nameListing(namespaces, connectorKey, kept.native, kept.leftOut);
    this.#shelf.noteKept(kept.facts);
    this.#put({ ...kept.facts, listing, readAt: undefined });
  }

  #put(catalog: Catalog): void {
    this.#absent.delete(catalog.connectorKey);
    this.#catalogs.set(catalog.connectorKey, catalog);
    this.#bytes += catalog.listing.bytes;
    for (const oldest of this.#catalogs.keys()) {
      if (this.#catalogs.size <= MAX_CATALOGS && this.#bytes <= MAX_BYTES) break;
      this.#drop(oldest);
    }
  }

  #drop(connectorKey: string): void {
    this.#bytes -= this.#catalogs.get(connectorKey)?.listing.bytes ?? 0;
    this.#catalogs.delete(connectorKey);
    this.#absent.delete(connectorKey);
  }

  #isOf(connectorKey: string, settingsDigest: string): boolean {
    const now = this.#options.traitsOf(connectorKey).settingsDigest;
    return now === undefined || now === settingsDigest;
  }
}

function definitionOf({ definition }: NativeTool): Uint8Array {
  return definition;
}
