import type { Route, RouteClient } from "./route.js";

/** One connector's change. At least one of the two is there. */
export interface PublicationChange<Client extends RouteClient = RouteClient> {
  readonly connectorKey: string;
  readonly previous: Route<Client> | undefined;
  readonly current: Route<Client> | undefined;
}

/** Told after each change, synchronously, when readers see it. Changes that were made as one come as one. */
export type PublicationListener<Client extends RouteClient = RouteClient> = (
  changes: readonly PublicationChange<Client>[],
) => void;

/** What readers see: at most one route per connector, changed in single steps. */
export class PublishedRoutes<Client extends RouteClient = RouteClient> {
  readonly #routes = new Map<string, Route<Client>>();
  readonly #listeners = new Set<PublicationListener<Client>>();
  readonly #onListenerFailure: (cause: unknown) => void;
  /** The answer of `list` until the next change. */
  #snapshot: readonly Route<Client>[] | undefined;

  constructor(onListenerFailure: (cause: unknown) => void) {
    this.#onListenerFailure = onListenerFailure;
  }

  get size(): number {
    return this.#routes.size;
  }

  get(connectorKey: string): Route<Client> | undefined {
    return this.#routes.get(connectorKey);
  }

  /** Sorted by key in code units. The array never changes; a later change makes another. */
  list(): readonly Route<Client>[] {
    this.#snapshot ??= Object.freeze(
      [...this.#routes.values()].sort((a, b) => (a.connectorKey < b.connectorKey ? -1 : 1)),
    );
    return this.#snapshot;
  }

  /** Puts `next` in the place of the connector's route. Tells nobody yet. */
  put(next: Route<Client>): PublicationChange<Client> {
    const { connectorKey } = next;
    const previous = this.#routes.get(connectorKey);
    this.#routes.set(connectorKey, next);
    this.#snapshot = undefined;
    return { connectorKey, previous, current: next };
  }

  /** Takes exactly this route away, if it is there. Tells nobody yet. */
  take(route: Route<Client>): PublicationChange<Client> | undefined {
    const { connectorKey } = route;
    if (this.#routes.get(connectorKey) !== route) return undefined;
    this.#routes.delete(connectorKey);
    this.#snapshot = undefined;
    return { connectorKey, previous: route, current: undefined };
  }

  /** Tells the listeners, each of them, though others throw. */
  announce(changes: readonly PublicationChange<Client>[]): void {
    if (changes.length === 0) return;
    for (const listener of this.#listeners) {
      try {
        listener(changes);
      } catch (cause) {
        this.#onListenerFailure(cause);
      }
    }
  }

  listen(listener: PublicationListener<Client>): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }
}
