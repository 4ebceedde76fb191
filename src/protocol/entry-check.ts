import type { Diagnostic } from "./diagnostic.js";
import { isJsonObject, type JsonObject } from "./json-rpc.js";

/** How the entries of one list are told to be usable. */
export interface EntryRules<Entry> {
  /** What an entry is called in diagnostics. */
  readonly noun: string;
  /** The member that names an entry. */
  readonly key: string;
  /** Members that an entry can do without, with what they must be if they are there. */
  readonly optional: ReadonlyMap<string, (value: unknown) => boolean>;
  /** Whether what is left can be used. */
  readonly isUsable: (entry: JsonObject) => entry is JsonObject & Entry;
  /** What an unusable entry lacks, for its diagnostic. */
  readonly lacking: string;
}

/** What one page holds once it is checked. */
export interface CheckedEntries<Entry> {
  /** The entries that can be used, in the server's order. */
  readonly entries: readonly Entry[];
  /** Names on this page that no earlier page had, of entries that were left out too. */
  readonly fresh: number;
}

/** The diagnostics kept of one walk; a server must not fill our memory with what it does wrong. */
const DIAGNOSTICS_KEPT = 1_000;

/**
 * Checks the entries of one walk through a list, page by page.
 *
 * An entry without its name, or that can't be used, is left out; an optional member of a wrong type is removed (`null` reads
 * as absent); of entries with one name the first wins. Each of these is a diagnostic. What is untouched is handed on as the
 * very object that came.
 */
export class EntryCheck<Entry> {
  readonly diagnostics: Diagnostic[] = [];
  /** Names that came more than once. */
  readonly duplicates = new Set<string>();
  readonly #rules: EntryRules<Entry>;
  readonly #optional: readonly (readonly [member: string, isRight: (value: unknown) => boolean])[];
  readonly #names = new Set<string>();
  /** Those of them whose entries can't be used. */
  readonly #unusable = new Set<string>();

  constructor(rules: EntryRules<Entry>) {
    this.#rules = rules;
    this.#optional = [...rules.optional];
  }

  /** The names that came, in the server's order, of entries that were left out too. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** Whether an entry of that name came that can be used. */
  isUsable(name: string): boolean {
    return this.#names.has(name) && !this.#unusable.has(name);
  }

  page(values: readonly unknown[]): CheckedEntries<Entry> {
    const entries: Entry[] = [];
    const before = this.#names.size;
    for (const value of values) {
      const entry = this.#entry(value);
      if (entry !== undefined) entries.push(entry);
    }
    return { entries, fresh: this.#names.size - before };
  }

  note(kind: Diagnostic["kind"], message: string, subject?: string, path?: string): undefined {
    if (this.diagnostics.length < DIAGNOSTICS_KEPT) this.diagnostics.push({ kind, message, subject, path });
    return undefined;
  }

  #entry(value: unknown): Entry | undefined {
    const { noun, key, isUsable, lacking } = this.#rules;
    const name = isJsonObject(value) ? value[key] : undefined;
    if (!isJsonObject(value) || typeof name !== "string") {
      return this.note("entry_dropped", `A ${noun} without a ${key} was left out.`);
    }
    if (this.#names.has(name)) {
      this.duplicates.add(name);
      return this.note("duplicate_entry", `A second ${noun} of the same ${key} was left out.`, name);
    }
    this.#names.add(name);
    const entry = this.#withoutWrongMembers(value, name);
    if (isUsable(entry)) return entry;
    this.#unusable.add(name);
    return this.note("entry_dropped", `A ${noun} without ${lacking} was left out.`, name);
  }

  #withoutWrongMembers(entry: JsonObject, name: string): JsonObject {
    let kept: Record<string, unknown> | undefined;
    for (const [member, isRight] of this.#optional) {
      const value = entry[member];
      if (value === undefined || isRight(value)) continue;
      kept ??= { ...entry };
      delete kept[member];
      if (value !== null) {
        this.note("member_removed", `The member ${member} has a wrong type and was removed.`, name, member);
      }
    }
    return kept ?? entry;
  }
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}
