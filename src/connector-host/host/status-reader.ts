import type { KeyStatus } from "../../reconcile/index.js";
import type { MissingConnector } from "../aggregation/index.js";
import { type ConnectorCatalog, scopeKindOf } from "../catalog/index.js";
import type { ConnectorState } from "../status/index.js";
import { DEVICE_SCOPE, kindOfScope } from "./account-scope.js";
import { type ConnectorStatus, describeConnector } from "./connector-status.js";
import type { FactsReader } from "./facts-reader.js";
import type { HostStore } from "./host-store.js";
import { type ConnectorFacts, findObstacle, isOfAccount, type Obstacle } from "./plan-connector.js";
import type { UnsettledFault } from "./unsettled-faults.js";

export interface StatusReaderOptions {
  readonly catalog: ConnectorCatalog;
  readonly store: HostStore;
  readonly facts: FactsReader;
  /** What keys of a scope are at; all of them when none are named. */
  readonly convergenceOf: (scope: string, keys?: readonly string[]) => Promise<readonly KeyStatus[]>;
  /** Whether a connector's route is published in the scope. */
  readonly isPublished: (scope: string, key: string) => boolean;
  /** Why the last list left a connector out, although its route is published. */
  readonly omissionOf: (key: string) => string | undefined;
  /** What was learnt of a connector and is not in the store yet. */
  readonly unsettledOf: (key: string) => UnsettledFault | undefined;
}

/** Reads what connectors are at, for people and for calls that miss one. */
export class StatusReader {
  readonly #options: StatusReaderOptions;

  constructor(options: StatusReaderOptions) {
    this.#options = options;
  }

  /** Every connector, by key. `accountScope`: that of the account that is signed in, if there is one. */
  async all(accountScope: string | undefined): Promise<readonly ConnectorStatus[]> {
    const { catalog } = this.#options;
    const rows = await this.#read(accountScope === undefined ? [DEVICE_SCOPE] : [accountScope, DEVICE_SCOPE]);
    if (accountScope === undefined) {
      for (const key of catalog.keysIn("account")) rows.push(signedOut(key, catalog.get(key)?.isOn === true));
    }
    return rows.sort((one, other) => (one.connectorKey < other.connectorKey ? -1 : 1));
  }

  /** Those of the connectors that there are, in any order. `accountScope`: that of the account that is signed in, if there is one. */
  async of(keys: readonly string[], accountScope: string | undefined): Promise<readonly ConnectorStatus[]> {
    const { catalog } = this.#options;
    const ofDevice: string[] = [];
    const ofAccount: string[] = [];
    for (const key of keys) {
      const entry = catalog.get(key);
      if (entry !== undefined) (scopeKindOf(entry) === "device" ? ofDevice : ofAccount).push(key);
    }
    const rows = await this.#readKeys(DEVICE_SCOPE, ofDevice, "few");
    if (accountScope !== undefined) return [...rows, ...(await this.#readKeys(accountScope, ofAccount, "few"))];
    return [...rows, ...ofAccount.map((key) => signedOut(key, catalog.get(key)?.isOn === true))];
  }

  /**
   * Connectors of the scopes that should run and have no route; before the account's first snapshot, all of them, since it is not
   * known yet which should.
   */
  async missing(scopes: readonly string[]): Promise<readonly MissingConnector[]> {
    const { isPublished } = this.#options;
    const missing: MissingConnector[] = [];
    for (const scope of scopes) {
      if (this.#keysOf(scope).every((key) => isPublished(scope, key))) continue;
      const statuses = await this.#read([scope]);
      missing.push(...statuses.filter((each) => !isPublished(scope, each.connectorKey) && MISSED.has(each.state)));
    }
    return missing;
  }

  /** What one connector is at, if it is missing, or if it only lacks its account's authorization. */
  async missingOne(scopes: readonly string[], key: string): Promise<MissingConnector | undefined> {
    const scope = scopes.find((each) => this.#keysOf(each).includes(key));
    if (scope === undefined || this.#options.isPublished(scope, key)) return undefined;
    const [status] = await this.#readKeys(scope, [key], "few");
    return status !== undefined && (MISSED.has(status.state) || status.state === UNAUTHORIZED) ? status : undefined;
  }

  /** Of all keys of the scopes. */
  async #read(scopes: readonly string[]): Promise<ConnectorStatus[]> {
    const statuses: ConnectorStatus[] = [];
    for (const scope of scopes) statuses.push(...(await this.#readKeys(scope, this.#keysOf(scope), "all")));
    return statuses;
  }

  /** Of the keys: `few` of the scope, or `all` of it. */
  async #readKeys(scope: string, keys: readonly string[], howMany: "few" | "all"): Promise<readonly ConnectorStatus[]> {
    const { store, facts, convergenceOf, isPublished, omissionOf, unsettledOf } = this.#options;
    if (keys.length === 0) return [];
    const converging = await convergenceOf(scope, howMany === "few" ? keys : undefined);
    const rows = new Map(converging.map((row) => [row.key, row]));
    return store.read(async (tx) => {
      const statuses: ConnectorStatus[] = [];
      for (const connectorKey of keys) {
        const known = await facts.read(tx, scope, connectorKey);
        const published = isPublished(scope, connectorKey);
        const obstacle = known && obstacleOf(known, published);
        const convergence = rows.get(connectorKey);
        const omission = published ? omissionOf(connectorKey) : undefined;
        const unsettled = unsettledOf(connectorKey);
        statuses.push(
          describeConnector({ connectorKey, obstacle, convergence, isPublished: published, omission, unsettled }),
        );
      }
      return statuses;
    });
  }

  #keysOf(scope: string): readonly string[] {
    return this.#options.catalog.keysIn(kindOfScope(scope));
  }
}

const UNAUTHORIZED = "authorization_required" satisfies ConnectorState;

/** States in which a connector would have a route if all went well. */
const MISSED: ReadonlySet<ConnectorState> = new Set<ConnectorState>([
  "starting",
  "offline",
  "degraded",
  "failed",
  "ready",
]);

function obstacleOf(facts: ConnectorFacts, published: boolean): Obstacle | undefined {
  const isRefused = isOfAccount(facts) && facts.isRefused;
  return findObstacle(facts) ?? (isRefused && !published ? "account_not_ready" : undefined);
}

function signedOut(connectorKey: string, isOn: boolean): ConnectorStatus {
  const obstacle = isOn ? "signed_out" : "switched_off";
  return describeConnector({ connectorKey, obstacle, convergence: undefined, isPublished: false });
}
