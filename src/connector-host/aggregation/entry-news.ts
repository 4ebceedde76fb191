import type { JsonObject } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Binding } from "../local-server/index.js";
import type { PublicationChange, Route } from "../routes/index.js";
import type { EntryLister, ListedByAll } from "./entry-lister.js";
import { type ListeningAgents, ListNews } from "./list-news.js";
import { isOpenFor, type OptInCapability } from "./open-connectors.js";
import type { AggregatedDirectoryOptions } from "./ports.js";

export interface EntryNewsParts<Entry extends JsonObject> {
  readonly options: AggregatedDirectoryOptions;
  readonly capability: OptInCapability;
  readonly lister: EntryLister<Entry>;
  /** Whether agents that were never given this list are told of what did change. */
  readonly tellsAll: boolean;
}

/** Tells agents that listen when a list of prompts, resources or templates is another than the one that they were given. */
export class EntryNews<Entry extends JsonObject> {
  readonly #parts: EntryNewsParts<Entry>;
  readonly #news: ListNews;

  constructor(parts: EntryNewsParts<Entry>) {
    this.#parts = parts;
    const { capability, options } = parts;
    this.#news = new ListNews({
      kind: capability,
      clock: options.clock,
      reach: options.reach,
      isKnown: (connectorKey) => this.#isKnown(connectorKey),
      differs: (scopes, connectorKey, digest) => this.#differs(scopes, connectorKey, digest),
    });
  }

  /** A binding asks for its list now. The returned function says what it is given. */
  giving(binding: Binding): (listed: ListedByAll) => void {
    const give = this.#news.giving(binding);
    return ({ parts, leftOut, view }) => {
      give(view);
      const { lister, options } = this.#parts;
      // What was given can be older than what is known by now, if the news of that came between.
      for (const { route, listing } of [...parts, ...leftOut]) {
        const isNewest = options.routes.isCurrent(route) && lister.valid(route) === listing;
        if (!isNewest) this.#news.note(route.scope, route.connectorKey, false);
      }
    };
  }

  /** What the route lists is another than before, or is there for those who gave it up. */
  hasListed({ scope, connectorKey }: Route<RemoteMcpClient>): void {
    this.#news.note(scope, connectorKey, this.#parts.tellsAll);
  }

  /** The route's list did change (`isCertain`), or may have. */
  note(route: Route<RemoteMcpClient>, isCertain: boolean): void {
    const { capability, lister, options, tellsAll } = this.#parts;
    if (!isOpenFor(options.reach, route.connectorKey, capability)) return;
    lister.invalidate(route);
    this.#news.note(route.scope, route.connectorKey, isCertain && tellsAll);
  }

  onPublication(changes: readonly PublicationChange<RemoteMcpClient>[]): void {
    for (const { previous, current } of changes) {
      for (const route of [previous, current]) if (route !== undefined) this.note(route, true);
    }
  }

  listenFor(agents: ListeningAgents): void {
    this.#news.listenFor(agents);
  }

  close(): void {
    this.#news.close();
  }

  #isKnown(connectorKey: string): boolean {
    const { capability, lister, options } = this.#parts;
    const route = options.routes.current(connectorKey);
    const isAsked = route !== undefined && isOpenFor(options.reach, connectorKey, capability);
    return !isAsked || lister.valid(route) !== undefined;
  }

  async #differs(scopes: readonly string[], connectorKey: string, digest: string): Promise<boolean> {
    const { capability, lister, options } = this.#parts;
    const route = options.routes.current(connectorKey);
    const isThere = route !== undefined && scopes.includes(route.scope);
    if (!isThere || !isOpenFor(options.reach, connectorKey, capability)) return digest !== "";
    const listing = lister.valid(route) ?? (await lister.listOne(route, route.signal));
    return listing.digest !== digest;
  }
}
