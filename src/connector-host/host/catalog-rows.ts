import type { WallClock } from "../../auth-projection/index.js";
import type { CatalogRows } from "../aggregation/index.js";
import type { ConnectorCatalog } from "../catalog/index.js";
import type { HostStore, HostTx } from "./host-store.js";

export interface CatalogRowsOptions {
  readonly store: HostStore;
  readonly clock: WallClock;
  readonly catalog: ConnectorCatalog;
  /** Characters of all texts. Default 64 Mi. */
  readonly maxLength?: number | undefined;
}

/** The kind of document that a catalog is kept as; its key is the connector's. */
const CATALOG_KIND = "catalog";

const MAX_ROWS = 1_024;
const MAX_LENGTH = 64 * 1024 * 1024;

/** What is known of a catalog that is kept. */
interface Row {
  readonly length: number;
  readonly updatedAt: number;
}

/**
 * The catalogs among a host's documents: at most 1,024 of them, of 64 Mi characters in all. The one that was written longest ago goes
 * first. Before the first one is written, those of connectors that are not there any more are removed.
 */
export function catalogRows({ store, clock, catalog, maxLength = MAX_LENGTH }: CatalogRowsOptions): CatalogRows {
  let rows: Map<string, Row> | undefined;
  const survey = async (tx: HostTx): Promise<Map<string, Row>> => {
    const found = new Map<string, Row>();
    for (const { key, text, updatedAt } of await tx.documents.list(CATALOG_KIND)) {
      if (catalog.get(key) === undefined) await tx.documents.remove(CATALOG_KIND, key);
      else found.set(key, { length: text.length, updatedAt });
    }
    return found;
  };
  return {
    read: (connectorKey) => store.read(async (tx) => (await tx.documents.get(CATALOG_KIND, connectorKey))?.text),
    write: (connectorKey, text, mayWrite) =>
      store.write(async (tx) => {
        const present = new Map(rows ?? (await survey(tx)));
        if (!mayWrite()) return;
        const updatedAt = clock.now();
        present.delete(connectorKey);
        for (const key of planRemovals(present, text.length, maxLength)) {
          present.delete(key);
          await tx.documents.remove(CATALOG_KIND, key);
        }
        await tx.documents.put({ kind: CATALOG_KIND, key: connectorKey, text, updatedAt });
        present.set(connectorKey, { length: text.length, updatedAt });
        tx.onSettled((outcome) => {
          if (outcome === "committed") rows = present;
        });
      }),
    remove: (connectorKey) =>
      store.write(async (tx) => {
        await tx.documents.remove(CATALOG_KIND, connectorKey);
        tx.onSettled((outcome) => {
          if (outcome === "committed") rows?.delete(connectorKey);
        });
      }),
  };
}

/** Which rows have to go so that one more of `length` characters fits in, the oldest first. Pure. */
export function planRemovals(rows: ReadonlyMap<string, Row>, length: number, maxLength: number): readonly string[] {
  let total = length;
  for (const row of rows.values()) total += row.length;
  const removed: string[] = [];
  for (const [key, row] of [...rows].sort(([, a], [, b]) => a.updatedAt - b.updatedAt)) {
    if (rows.size - removed.length < MAX_ROWS && total <= maxLength) break;
    removed.push(key);
    total -= row.length;
  }
  return removed;
}
