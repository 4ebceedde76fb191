import type { EntryList } from "./client-calls.js";
import type { Diagnostic } from "./diagnostic.js";
import { EntryCheck, type EntryRules } from "./entry-check.js";
import type { ListKind } from "./list-kinds.js";
import { type FetchPage, type Gathering, type ListWalkOptions, type RawListPage, walkList } from "./walk-list.js";

/** Walks through all pages of a list and checks its entries. Rejects as {@link walkList}. */
export function walkEntries<Entry>(
  fetchPage: FetchPage,
  { method, rules }: ListKind<Entry>,
  options: Omit<ListWalkOptions, "method">,
): Promise<EntryList<Entry>> {
  return walkList(fetchPage, () => new EntryGathering(rules), { ...options, method });
}

class EntryGathering<Entry> implements Gathering, EntryList<Entry> {
  readonly entries: Entry[] = [];
  readonly #check: EntryCheck<Entry>;

  constructor(rules: EntryRules<Entry>) {
    this.#check = new EntryCheck(rules);
  }

  get diagnostics(): Diagnostic[] {
    return this.#check.diagnostics;
  }

  get duplicates(): ReadonlySet<string> {
    return this.#check.duplicates;
  }

  take({ entries }: RawListPage): number {
    const page = this.#check.page(entries);
    for (const entry of page.entries) this.entries.push(entry);
    return page.fresh;
  }
}
