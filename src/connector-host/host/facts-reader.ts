import { effectiveRow, type Readiness } from "../../auth-projection/index.js";
import type { ConnectorCatalog } from "../catalog/index.js";
import { accountOf, DEVICE_SCOPE } from "./account-scope.js";
import type { HostTx } from "./host-store.js";
import type { ConnectorFacts } from "./plan-connector.js";
import type { UnwrittenNews } from "./unwritten-news.js";

export interface FactsReaderOptions {
  readonly catalog: ConnectorCatalog;
  readonly readiness: Readiness;
  readonly news: UnwrittenNews;
  /** The epoch of a scope; `undefined` while it is shut. */
  readonly epochOf: (scope: string) => string | undefined;
  /** Whether the control plane refuses the account's credentials at the moment. */
  readonly isRefused: (scope: string) => boolean;
}

/** Reads what a connector's plan and its status are made of. */
export class FactsReader {
  readonly #options: FactsReaderOptions;

  constructor(options: FactsReaderOptions) {
    this.#options = options;
  }

  /** As the transaction sees them; `undefined` for one that is not in the catalog, or not of this scope. Awaits nothing but `tx`. */
  async read(tx: HostTx, scope: string, key: string): Promise<ConnectorFacts | undefined> {
    const { catalog, readiness, news, epochOf, isRefused } = this.#options;
    const entry = catalog.get(key);
    if (entry === undefined) return undefined;
    if (entry.kind !== "release") return scope === DEVICE_SCOPE ? { entry } : undefined;
    const accountId = accountOf(scope);
    if (accountId === undefined) return undefined;
    const row = await tx.projections.get(accountId, key);
    const projection = row && effectiveRow(row, await tx.overlays.get(accountId, key));
    const epoch = epochOf(scope);
    // Rows that newer news contradict say what was true, not what is.
    const isDenied = epoch !== undefined && projection !== undefined && news.denies(epoch, projection);
    const isReady = epoch !== undefined && readiness.isReady(accountId, epoch) && !isDenied;
    return { entry, isReady, isRefused: isRefused(scope), projection };
  }
}
