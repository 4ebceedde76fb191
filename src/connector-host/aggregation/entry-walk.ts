import {
  type Diagnostic,
  entriesIn,
  EntryCheck,
  type Gathering,
  type JsonObject,
  LIST_WALK_LIMITS,
  type ListKind,
  memberRange,
  type RawListPage,
  scanArray,
  walkList,
} from "../../protocol/index.js";
import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";

/** The entries of one list of one server. */
export interface WalkedEntries {
  /** Each definition's JSON as its server wrote it, by the name or URI that the kind of list goes by; in the server's order. */
  readonly definitions: ReadonlyMap<string, Uint8Array>;
  /** Names or URIs of more than one entry; the first of each is in `definitions`. */
  readonly duplicates: ReadonlySet<string>;
  readonly diagnostics: readonly Diagnostic[];
}

export interface EntryWalkOptions {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Milliseconds for the whole walk. */
  readonly timeoutMs: number;
}

/**
 * Walks through all pages of a list and keeps the text of each definition, so that a list can be passed on without losing
 * digits, unknown members or their order. An entry that can't be used is left out with a diagnostic; one with an optional
 * member of a wrong type, for which agents would refuse a whole list, is written anew without it.
 *
 * Rejects with what a page rejects with, and with `no_progress` and `limit_exceeded`.
 */
export function walkEntries<Entry extends JsonObject>(
  client: RemoteMcpClient,
  kind: ListKind<Entry>,
  { signal, clock, timeoutMs }: EntryWalkOptions,
): Promise<WalkedEntries> {
  const endsAt = clock.now() + timeoutMs;
  const fetchPage = async (cursor: string | undefined): Promise<RawListPage> => {
    const params = cursor === undefined ? {} : { cursor };
    const totalTimeoutMs = Math.max(1, endsAt - clock.now());
    const { result, raw } = await client.request(kind.method, params, { detail: true, signal, totalTimeoutMs });
    return { entries: entriesIn(kind, result), nextCursor: result["nextCursor"], message: raw };
  };
  const stall = client.era === "legacy" ? "ends" : "fails";
  return walkList(fetchPage, () => new DefinitionGathering(kind), {
    method: kind.method,
    limits: LIST_WALK_LIMITS,
    stall,
  });
}

class DefinitionGathering<Entry extends JsonObject> implements Gathering, WalkedEntries {
  readonly definitions = new Map<string, Uint8Array>();
  readonly #kind: ListKind<Entry>;
  readonly #check: EntryCheck<Entry>;

  constructor(kind: ListKind<Entry>) {
    this.#kind = kind;
    this.#check = new EntryCheck(kind.rules);
  }

  get diagnostics(): Diagnostic[] {
    return this.#check.diagnostics;
  }

  get duplicates(): ReadonlySet<string> {
    return this.#check.duplicates;
  }

  take({ entries, message }: RawListPage): number {
    const { member, rules } = this.#kind;
    const list = memberRange(message, [member]);
    const ranges = list === undefined ? [] : (scanArray(message, list.start) ?? []);
    const places = new Map<unknown, (typeof ranges)[number] | undefined>(
      entries.map((entry, index) => [entry, ranges[index]]),
    );
    const page = this.#check.page(entries);
    for (const entry of page.entries) {
      const name = entry[rules.key];
      const place = places.get(entry);
      // Copied: a view would keep its whole page in memory.
      const text = place === undefined ? writtenAnew(entry) : message.slice(place.start, place.end);
      if (typeof name === "string" && text !== undefined) this.definitions.set(name, text);
    }
    return page.fresh;
  }
}

function writtenAnew(entry: JsonObject): Uint8Array | undefined {
  try {
    return Buffer.from(JSON.stringify(entry), "utf8");
  } catch {
    // Too deep to be written again.
    return undefined;
  }
}
