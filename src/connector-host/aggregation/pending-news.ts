/** Something about a connector. */
export interface News {
  /** Whose connector it is. */
  readonly scopes: ReadonlySet<string>;
  /** Something did change; otherwise it is only possible. */
  readonly isCertain: boolean;
  /** How many times it was looked at in vain. */
  readonly looks: number;
}

interface Pending extends News {
  readonly dueAt: number;
}

interface Remembered {
  readonly scopes: ReadonlySet<string>;
  /** When it came, as a number that grows with each. */
  readonly at: number;
}

/** Connectors of which the last change is remembered for those who listen later. */
const REMEMBERED = 1_024;

/** News that were not looked at yet, and what came last of each connector. At most one of a connector is pending. */
export class PendingNews {
  readonly #pending = new Map<string, Pending>();
  /** The one of which something came longest ago first. */
  readonly #remembered = new Map<string, Remembered>();
  #seen = 0;

  /** Grows with whatever is remembered. */
  get seen(): number {
    return this.#seen;
  }

  /** Something came about a connector of the scope, whether somebody listens or not. */
  remember(scope: string, connectorKey: string): void {
    this.#seen += 1;
    const scopes = new Set(this.#remembered.get(connectorKey)?.scopes).add(scope);
    this.#remembered.delete(connectorKey);
    this.#remembered.set(connectorKey, { scopes, at: this.#seen });
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= REMEMBERED) break;
      this.#remembered.delete(oldest);
    }
  }

  /** Connectors of which something came after `seen` had this value, with their scopes. */
  *since(seen: number): Generator<readonly [string, ReadonlySet<string>], void, undefined> {
    for (const [connectorKey, { scopes, at }] of this.#remembered) if (at > seen) yield [connectorKey, scopes];
  }

  /** Adds news to what is pending of the connector: it is due when the first of it is. */
  add(connectorKey: string, news: News, dueAt: number): void {
    const before = this.#pending.get(connectorKey);
    this.#pending.set(connectorKey, {
      scopes: new Set([...(before?.scopes ?? []), ...news.scopes]),
      isCertain: news.isCertain || before?.isCertain === true,
      looks: Math.min(news.looks, before?.looks ?? news.looks),
      dueAt: Math.min(dueAt, before?.dueAt ?? dueAt),
    });
  }

  /** When the first is due that is of none of these connectors; `undefined` when there is none. */
  dueAt(without: ReadonlySet<string>): number | undefined {
    let dueAt: number | undefined;
    for (const [connectorKey, pending] of this.#pending) {
      if (!without.has(connectorKey)) dueAt = Math.min(pending.dueAt, dueAt ?? pending.dueAt);
    }
    return dueAt;
  }

  /** Takes what is due of connectors that are not being looked at, as long as fewer than `limit` are. */
  take(now: number, looking: ReadonlySet<string>, limit: number): readonly (readonly [string, News])[] {
    const taken: [string, News][] = [];
    for (const [connectorKey, news] of this.#pending) {
      if (looking.size + taken.length >= limit) break;
      if (news.dueAt > now || looking.has(connectorKey)) continue;
      this.#pending.delete(connectorKey);
      taken.push([connectorKey, news]);
    }
    return taken;
  }

  clear(): void {
    this.#pending.clear();
    this.#remembered.clear();
  }
}
