import { type CatalogFacts, writeCatalog } from "./catalog-text.js";
import type { NativeTool } from "./native-tools.js";
import type { CatalogFault, CatalogRows } from "./ports.js";

/** A catalog that is to be written. */
interface Unwritten {
  readonly facts: CatalogFacts;
  readonly text: string;
  readonly mayWrite: () => boolean;
}

/** Characters of a catalog's text. */
const MAX_LENGTH = 8 * 1024 * 1024;
/** A list that says the same is not written again for that long: the time at which it was read, as it is kept, can be as much older. */
const REWRITE_MS = 3_600_000;

/**
 * Keeps catalogs behind the backs of those who read them: one write of a connector at a time, and of what comes meanwhile only the last.
 * Whatever fails is told, and leaves what is kept as it is. One of more than 8 Mi characters is not kept.
 */
export class CatalogShelf {
  readonly #rows: CatalogRows | undefined;
  readonly #onFault: (fault: CatalogFault) => void;
  /** What is kept, as far as it was seen. */
  readonly #kept = new Map<string, CatalogFacts>();
  /** What is to be done next for a connector; `"remove"`: nothing of it is to be kept. */
  readonly #next = new Map<string, Unwritten | "remove">();
  readonly #busy = new Set<string>();
  #isClosed = false;

  constructor(rows: CatalogRows | undefined, onFault: (fault: CatalogFault) => void) {
    this.#rows = rows;
    this.#onFault = onFault;
  }

  /** Writes a catalog, soon. `mayWrite` is asked in the step in which it is written. */
  keep(facts: CatalogFacts, native: readonly NativeTool[], mayWrite: () => boolean): void {
    const { connectorKey } = facts;
    if (this.#rows === undefined || this.#isClosed || this.#isKept(facts)) return;
    const text = writeCatalog(facts, native);
    if (text.length > MAX_LENGTH) this.#onFault({ kind: "too_large", connectorKey });
    else this.#do(connectorKey, { facts, text, mayWrite });
  }

  /** It was read, and is kept as it says. */
  noteKept(facts: CatalogFacts): void {
    this.#kept.set(facts.connectorKey, facts);
  }

  /** Removes what is kept of a connector, soon. */
  remove(connectorKey: string): void {
    this.#kept.delete(connectorKey);
    if (this.#rows !== undefined && !this.#isClosed) this.#do(connectorKey, "remove");
  }

  close(): void {
    this.#isClosed = true;
    this.#next.clear();
  }

  #isKept({ connectorKey, digest, fetchedAt, scope, settingsDigest, ttlMs }: CatalogFacts): boolean {
    const kept = this.#kept.get(connectorKey);
    if (kept === undefined || this.#next.has(connectorKey)) return false;
    const isSame = kept.digest === digest && kept.settingsDigest === settingsDigest && kept.ttlMs === ttlMs;
    return isSame && kept.scope === scope && Math.abs(fetchedAt - kept.fetchedAt) < REWRITE_MS;
  }

  #do(connectorKey: string, next: Unwritten | "remove"): void {
    this.#next.set(connectorKey, next);
    if (!this.#busy.has(connectorKey)) void this.#run(connectorKey);
  }

  async #run(connectorKey: string): Promise<void> {
    this.#busy.add(connectorKey);
    for (;;) {
      const next = this.#next.get(connectorKey);
      if (next === undefined) break;
      this.#next.delete(connectorKey);
      if (next === "remove") await this.#remove(connectorKey);
      else await this.#write(next);
    }
    this.#busy.delete(connectorKey);
  }

  async #write({ facts, text, mayWrite }: Unwritten): Promise<void> {
    const { connectorKey } = facts;
    let isWritten = false;
    try {
      await this.#rows?.write(connectorKey, text, () => (isWritten = !this.#isClosed && mayWrite()));
      if (isWritten) this.#kept.set(connectorKey, facts);
    } catch (error) {
      // It is tried again when the connector is listed again.
      this.#kept.delete(connectorKey);
      this.#tell({ kind: "not_kept", connectorKey, error });
    }
  }

  async #remove(connectorKey: string): Promise<void> {
    // What was being written when this was asked for is noted by now.
    this.#kept.delete(connectorKey);
    try {
      await this.#rows?.remove(connectorKey);
    } catch (error) {
      // It is of other settings: whoever reads it drops it then.
      this.#tell({ kind: "not_removed", connectorKey, error });
    }
  }

  #tell(fault: CatalogFault): void {
    if (!this.#isClosed) this.#onFault(fault);
  }
}
