import { RemoteConnectorError } from "../../errors.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { ResourceWatch } from "../local-server/index.js";
import type { Route } from "../routes/index.js";
import type { ResourceOwner } from "./owner-table.js";
import type { AggregatedDirectoryOptions } from "./ports.js";
import { ResourceFeed } from "./resource-feed.js";
import type { RouteFinder } from "./route-finder.js";

/** A feed, and whose it is. */
interface OwnedFeed {
  readonly owner: ResourceOwner;
  readonly feed: ResourceFeed;
}

/** The upstream subscriptions to resources: one for each owner and URI, however many agents listen, and none without any. */
export class ResourceFeeds {
  readonly #options: AggregatedDirectoryOptions;
  readonly #finder: RouteFinder;
  readonly #feeds = new Map<string, OwnedFeed>();
  #stopFollowing: (() => void) | undefined;

  constructor(options: AggregatedDirectoryOptions, finder: RouteFinder) {
    this.#options = options;
    this.#finder = finder;
  }

  /** Subscriptions that are open, or to be opened again. */
  get size(): number {
    return this.#feeds.size;
  }

  /**
   * Has the watch told of changes until its signal fires. Resolves when the owner takes part.
   *
   * Rejects with `unsupported` when its server has no subscriptions, with `limit_exceeded`, with what else ended the
   * subscription before it began, and with the signal's reason.
   */
  async watch(route: Route<RemoteMcpClient>, uri: string, { signal, onUpdated }: ResourceWatch): Promise<void> {
    signal.throwIfAborted();
    const { scope, connectorKey } = route;
    const key = JSON.stringify([connectorKey, scope, uri]);
    const owned = this.#feeds.get(key) ?? this.#begin(key, route, uri);
    const { feed } = owned;
    // Each watch is a listener of its own, though several may share one function.
    const remove = feed.add(() => onUpdated());
    const leave = (): void => {
      signal.removeEventListener("abort", leave);
      remove();
      if (feed.size === 0) this.#end(key, owned);
    };
    signal.addEventListener("abort", leave);
    try {
      await opened(feed, signal);
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Ends all. */
  close(): void {
    for (const [key, owned] of this.#feeds) this.#end(key, owned);
  }

  #begin(key: string, route: Route<RemoteMcpClient>, uri: string): OwnedFeed {
    const limit = this.#options.maxResourceSubscriptions;
    if (this.#feeds.size >= limit) throw tooMany(limit);
    const { scope, connectorKey } = route;
    const feed = new ResourceFeed({
      ...this.#options,
      uri,
      currentRoute: () => this.#finder.current([scope], connectorKey),
      onRefused: () => this.#end(key, owned),
    });
    const owned = { owner: { scope, connectorKey }, feed };
    this.#feeds.set(key, owned);
    this.#stopFollowing ??= this.#follow();
    feed.open(route);
    return owned;
  }

  #end(key: string, owned: OwnedFeed): void {
    owned.feed.close();
    if (this.#feeds.get(key) === owned) this.#feeds.delete(key);
    if (this.#feeds.size > 0) return;
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
  }

  /** Takes feeds along to the next route of their owner. */
  #follow(): () => void {
    return this.#options.routes.onPublication((changes) => {
      for (const { connectorKey, current } of changes) {
        if (current === undefined) continue;
        for (const { owner, feed } of this.#feeds.values()) {
          if (owner.connectorKey === connectorKey && owner.scope === current.scope) feed.open(current);
        }
      }
    });
  }
}

/** Waits for a feed that others may wait for too. */
function opened(feed: ResourceFeed, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    feed.opened.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function tooMany(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `There are ${String(limit)} subscriptions to resources; raise maxResourceSubscriptions for more.`,
    details: { option: "maxResourceSubscriptions", limit },
  });
}
