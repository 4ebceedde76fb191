import type { Route, RouteClient } from "./route.js";

/**
 * Routes that are ready and not published, since the gate of their scope is closed: at most one per connector, the newest. Nobody
 * reads them, and nothing is called over them.
 */
export class StagedRoutes<Client extends RouteClient = RouteClient> {
  /** By the scope whose gate is closed, then by connector key. */
  readonly #closed = new Map<string, Map<string, Route<Client>>>();

  get size(): number {
    let size = 0;
    for (const routes of this.#closed.values()) size += routes.size;
    return size;
  }

  isClosed(scope: string): boolean {
    return this.#closed.has(scope);
  }

  close(scope: string): void {
    if (!this.#closed.has(scope)) this.#closed.set(scope, new Map());
  }

  /** Opens a gate, and gives what is staged behind it, sorted by key in code units. */
  open(scope: string): readonly Route<Client>[] {
    const routes = this.keys(scope).flatMap((key) => this.get(scope, key) ?? []);
    this.#closed.delete(scope);
    return routes;
  }

  /** The connectors that have something staged, sorted in code units. */
  keys(scope: string): readonly string[] {
    return [...(this.#closed.get(scope)?.keys() ?? [])].sort();
  }

  get(scope: string, connectorKey: string): Route<Client> | undefined {
    return this.#closed.get(scope)?.get(connectorKey);
  }

  /** Stages a route behind its scope's closed gate, in the place of the one that is answered. */
  put(route: Route<Client>): Route<Client> | undefined {
    const routes = this.#closed.get(route.scope);
    const previous = routes?.get(route.connectorKey);
    routes?.set(route.connectorKey, route);
    return previous === route ? undefined : previous;
  }

  /** Takes a connector's staged route away, if its generation is at or behind `generation`. */
  take(scope: string, connectorKey: string, generation: number): readonly Route<Client>[] {
    const route = this.get(scope, connectorKey);
    if (route === undefined || route.generation > generation) return [];
    this.#closed.get(scope)?.delete(connectorKey);
    return [route];
  }

  /** Takes exactly this route away, if it is staged. */
  takeExact(route: Route<Client>): readonly Route<Client>[] {
    return this.get(route.scope, route.connectorKey) === route
      ? this.take(route.scope, route.connectorKey, route.generation)
      : [];
  }

  /** Takes everything of a scope away. Its gate stays as it is. */
  takeAll(scope: string): readonly Route<Client>[] {
    const routes = this.#closed.get(scope);
    const all = [...(routes?.values() ?? [])];
    routes?.clear();
    return all;
  }

  /** Everything that is staged. */
  all(): readonly Route<Client>[] {
    return [...this.#closed.values()].flatMap((routes) => [...routes.values()]);
  }

  /** A scope is over, and its gate with it. */
  forget(scope: string): void {
    this.#closed.delete(scope);
  }
}
