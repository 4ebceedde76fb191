import { joinKeySpace } from "../registration/index.js";
import { type CatalogEntry, type ScopeKind, scopeKindOf } from "./catalog-entry.js";

/**
 * Everything that can be connected, by key in code units. That a connector is in here says nothing of any account. Readers see
 * each change at once, synchronously.
 */
export class ConnectorCatalog {
  readonly #byKey = new Map<string, CatalogEntry>();
  readonly #listeners = new Set<(key: string) => void>();
  /** The answers of `keysIn` until a key comes or goes. */
  #sorted: Readonly<Record<ScopeKind, readonly string[]>> | undefined;

  /** Throws `duplicate_connector` for a key that two of them have, whatever their kinds. */
  constructor(entries: Iterable<CatalogEntry>) {
    const all = [...entries];
    assertKeySpace(all);
    for (const entry of all) this.#byKey.set(entry.key, entry);
  }

  /** All keys, sorted. */
  get keys(): readonly string[] {
    return [...this.#byKey.keys()].sort();
  }

  /** The keys of one kind of scope, sorted. */
  keysIn(kind: ScopeKind): readonly string[] {
    this.#sorted ??= sortByScope(this.#byKey.values());
    return this.#sorted[kind];
  }

  get(key: string): CatalogEntry | undefined {
    return this.#byKey.get(key);
  }

  /** Throws `duplicate_connector` when the key is taken that a connector is to have. */
  assertFree(entry: CatalogEntry): void {
    const taken = this.#byKey.get(entry.key);
    if (taken !== undefined) assertKeySpace([taken, entry]);
  }

  /** Puts `entry` in the place of what the key has; `undefined` takes it away. */
  set(key: string, entry: CatalogEntry | undefined): void {
    if (entry === undefined) this.#byKey.delete(key);
    else this.#byKey.set(key, entry);
    this.#sorted = undefined;
    for (const listener of this.#listeners) listener(key);
  }

  /** Calls `listener` after each change of a key, until the returned function is called. It must not throw. */
  onChange(listener: (key: string) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}

function sortByScope(entries: Iterable<CatalogEntry>): Readonly<Record<ScopeKind, readonly string[]>> {
  const keys: Record<ScopeKind, string[]> = { account: [], device: [] };
  for (const entry of entries) keys[scopeKindOf(entry)].push(entry.key);
  return { account: keys.account.sort(), device: keys.device.sort() };
}

function assertKeySpace(entries: readonly CatalogEntry[]): void {
  // All as one kind: what they are called and where they are is all that is looked at.
  joinKeySpace({ stdio: entries.map(({ key, place, capabilities }) => ({ place, connector: { key, capabilities } })) });
}
