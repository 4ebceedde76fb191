import { Retirement } from "./retirement.js";
import type { Route, RouteClient } from "./route.js";
import type { RouteTableConfig } from "./route-table-options.js";

/** Which of a connector's retiring routes are meant: those of one scope, up to a generation. */
export interface RetiringRange {
  readonly scope: string;
  readonly generation: number;
}

/**
 * The withdrawn routes that are not closed yet: cleanup debt, bounded per connector. Nothing in here is ever published
 * again, and no route in here ever displaces another: several generations of one connector retire side by side.
 */
export class RetiringRoutes<Client extends RouteClient = RouteClient> {
  readonly #config: RouteTableConfig;
  /** By connector key, the oldest first. A key without any has no entry. */
  readonly #byKey = new Map<string, Set<Retirement<Client>>>();
  #size = 0;
  /** Called when the last one is gone. */
  #onEmpty: () => void = () => {};

  constructor(config: RouteTableConfig) {
    this.#config = config;
  }

  get size(): number {
    return this.#size;
  }

  /** How many of a connector's routes are not closed yet. */
  countOf(connectorKey: string): number {
    return this.#byKey.get(connectorKey)?.size ?? 0;
  }

  /** Takes a withdrawn route over. When its connector has too many by then, the oldest is given up. */
  add(route: Route<Client>): Retirement<Client> {
    const retirement = new Retirement(route, this.#config, this.#remove);
    const retirements = this.#byKey.get(route.connectorKey) ?? new Set();
    this.#byKey.set(route.connectorKey, retirements.add(retirement));
    this.#size += 1;
    const [oldest] = retirements;
    if (retirements.size > this.#config.maxRetiringPerKey) oldest?.abandon("too many of the connector's routes wait");
    return retirement;
  }

  /** The retirement of exactly this route. */
  find(route: Route<Client>): Retirement<Client> | undefined {
    return this.of(route.connectorKey).find((retirement) => retirement.route === route);
  }

  /** A connector's retirements, the oldest first; those in `range` when one is given. */
  of(connectorKey: string, range?: RetiringRange): readonly Retirement<Client>[] {
    const all = [...(this.#byKey.get(connectorKey) ?? [])];
    if (range === undefined) return all;
    return all.filter(({ route }) => route.scope === range.scope && route.generation <= range.generation);
  }

  /** All retirements of a scope, or of all scopes. */
  all(scope?: string): readonly Retirement<Client>[] {
    const all = [...this.#byKey.values()].flatMap((retirements) => [...retirements]);
    return scope === undefined ? all : all.filter(({ route }) => route.scope === scope);
  }

  /** Waits until nothing is left, at most `timeoutMs`; then what is left is given up. Answers how many those were. */
  async drainWithin(timeoutMs: number): Promise<number> {
    if (this.#size > 0) {
      await new Promise<void>((resolve) => {
        const stop = this.#config.clock.schedule(timeoutMs, resolve);
        this.#onEmpty = () => {
          stop();
          resolve();
        };
      });
    }
    const left = this.all();
    for (const retirement of left) retirement.abandon("the table is closed");
    return left.length;
  }

  readonly #remove = (retirement: Retirement<Client>): void => {
    const { connectorKey } = retirement.route;
    const retirements = this.#byKey.get(connectorKey);
    if (retirements?.delete(retirement) !== true) return;
    if (retirements.size === 0) this.#byKey.delete(connectorKey);
    this.#size -= 1;
    if (this.#size === 0) this.#onEmpty();
  };
}
