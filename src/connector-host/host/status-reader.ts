import type { KeyStatus } from "../../reconcile/index.js";
import type { MissingConnector } from "../aggregation/index.js";
import { type ConnectorState, type ConnectorStatus, describeConnector } from "./connector-status.js";
import type { FactsReader } from "./facts-reader.js";
import type { HostStore } from "./host-store.js";
import { type ConnectorFacts, findObstacle, type Obstacle } from "./plan-connector.js";

export interface StatusReaderOptions {
  readonly keys: readonly string[];
  readonly store: HostStore;
  readonly facts: FactsReader;
  /** What the keys of a scope are at. */
  readonly convergenceOf: (scope: string) => Promise<readonly KeyStatus[]>;
  /** Whether a connector's route is published in the scope. */
  readonly isPublished: (scope: string, key: string) => boolean;
}

/** Reads what connectors are at, for people and for calls that miss one. */
export class StatusReader {
  readonly #options: StatusReaderOptions;

  constructor(options: StatusReaderOptions) {
    this.#options = options;
  }

  /** Every installed connector, by key. `scope`: that of the account that is signed in, if there is one. */
  async all(scope: string | undefined): Promise<readonly ConnectorStatus[]> {
    const { keys, store, facts, convergenceOf, isPublished } = this.#options;
    if (scope === undefined) return keys.map((connectorKey) => signedOut(connectorKey));
    const rows = new Map((await convergenceOf(scope)).map((row) => [row.key, row]));
    return store.read(async (tx) => {
      const statuses: ConnectorStatus[] = [];
      for (const connectorKey of keys) {
        const known = await facts.read(tx, scope, connectorKey);
        const published = isPublished(scope, connectorKey);
        statuses.push(
          describeConnector({
            connectorKey,
            obstacle: known && obstacleOf(known, published),
            convergence: rows.get(connectorKey),
            isPublished: published,
          }),
        );
      }
      return statuses;
    });
  }

  /**
   * Connectors that should run and have no route; before the account's first snapshot, all of them, since it is not known
   * yet which should.
   */
  async missing([scope]: readonly string[]): Promise<readonly MissingConnector[]> {
    const { keys, isPublished } = this.#options;
    if (scope === undefined || keys.every((key) => isPublished(scope, key))) return [];
    const statuses = await this.all(scope);
    return statuses.filter((status) => !isPublished(scope, status.connectorKey) && MISSED.has(status.state));
  }
}

/** States in which a connector would have a route if all went well. */
const MISSED: ReadonlySet<ConnectorState> = new Set<ConnectorState>([
  "starting",
  "offline",
  "degraded",
  "failed",
  "ready",
]);

function obstacleOf(facts: ConnectorFacts, published: boolean): Obstacle | undefined {
  return findObstacle(facts) ?? (facts.isRefused && !published ? "account_not_ready" : undefined);
}

function signedOut(connectorKey: string): ConnectorStatus {
  return describeConnector({ connectorKey, obstacle: "signed_out", convergence: undefined, isPublished: false });
}
