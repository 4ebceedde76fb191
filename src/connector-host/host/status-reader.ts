import type { KeyStatus } from "../../reconcile/index.js";
import type { MissingConnector } from "../aggregation/index.js";
import { type ConnectorStatus, describeConnector } from "./connector-status.js";
import type { FactsReader } from "./facts-reader.js";
import type { HostStore } from "./host-store.js";
import { findObstacle } from "./plan-connector.js";

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
        statuses.push(
          describeConnector({
            connectorKey,
            obstacle: known === undefined ? undefined : findObstacle(known),
            convergence: rows.get(connectorKey),
            isPublished: isPublished(scope, connectorKey),
          }),
        );
      }
      return statuses;
    });
  }

  /** Connectors that should run and have no route. */
  async missing(scope: string): Promise<readonly MissingConnector[]> {
    const { keys, convergenceOf, isPublished } = this.#options;
    if (keys.every((key) => isPublished(scope, key))) return [];
    const rows = await convergenceOf(scope);
    return rows
      .filter(({ key, enabled }) => enabled && !isPublished(scope, key))
      .map((convergence) => {
        const facts = { connectorKey: convergence.key, obstacle: undefined, convergence, isPublished: false };
        const { state, nextAttemptAt } = describeConnector(facts);
        return { connectorKey: convergence.key, state, nextAttemptAt };
      });
  }
}

function signedOut(connectorKey: string): ConnectorStatus {
  return describeConnector({ connectorKey, obstacle: "signed_out", convergence: undefined, isPublished: false });
}
