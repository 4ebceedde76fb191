import type { AuthorizationChange, ChangeOutcome, Connection } from "./authorization-state.js";
import { type Credential, type CredentialVault, wipeCredential } from "./authorizing/index.js";
import type { FaultBook } from "./faults.js";
import type { HintHub } from "./hint-hub.js";
import type { GatewayConfig } from "./options.js";
import type { UpstreamPool } from "./upstream-pool.js";

export interface AuthorizationChangesParts {
  readonly config: GatewayConfig;
  readonly vault: CredentialVault;
  readonly pool: UpstreamPool;
  readonly hints: HintHub;
  readonly faults: FaultBook;
  /** Disposes of a credential whose connection is over. */
  readonly giveUp: (connectorId: string, credential: Credential) => void;
}

type Connections = ReadonlyMap<string, Connection>;

/**
 * Changes authorizations, and everything that stands on them. The state is the truth, so it changes first; then the
 * credentials; what runs on the old ones ends next, and the hint goes out last.
 */
export class AuthorizationChanges {
  readonly #parts: AuthorizationChangesParts;

  constructor(parts: AuthorizationChangesParts) {
    this.#parts = parts;
  }

  /** Changes one account's connection to one connector. `credential` belongs to the connection that is granted or added. */
  async change(
    accountId: string,
    connectorId: string,
    change: AuthorizationChange,
    credential?: Credential,
  ): Promise<ChangeOutcome> {
    const { config, hints, vault } = this.#parts;
    const outcome = await config.state.change(accountId, connectorId, change);
    const { changed, connection, revision } = outcome;
    if (!changed || connection === undefined) {
      if (credential !== undefined) wipeCredential(credential);
      return outcome;
    }
    if (credential !== undefined) vault.set(accountId, connectorId, subjectOf(change, connection), credential);
    this.#dispose(accountId, connectorId, connection);
    // Without a credential of its own a granted connection is served as it was.
    const isServedAnew = change.kind === "switch" || (change.kind === "grant" && credential !== undefined);
    this.#serve(accountId, connectorId, connection, isServedAnew);
    const fault = this.#parts.faults.takeHint({ accountId, connectorId });
    if (fault?.kind === "drop_hint_connection") hints.drop(accountId);
    else if (fault === undefined) hints.publish(accountId, connectorId, revision);
    return outcome;
  }

  /** Goes back to an earlier revision under a new epoch; see `AuthorizationState.restore`. */
  async restore(accountId: string | undefined, revision: bigint): Promise<boolean> {
    const before = await this.#readAll(accountId);
    if (!(await this.#parts.config.state.restore(accountId, revision))) return false;
    for (const [account, now] of await this.#readAll(accountId)) {
      this.#compare(account, before.get(account) ?? new Map(), now);
    }
    this.#parts.hints.restart(accountId);
    return true;
  }

  /** Counts revisions anew under a new epoch; see `AuthorizationState.resetEpoch`. */
  async resetEpoch(accountId: string | undefined): Promise<void> {
    await this.#parts.config.state.resetEpoch(accountId);
    this.#parts.hints.restart(accountId);
  }

  async #readAll(accountId: string | undefined): Promise<ReadonlyMap<string, Connections>> {
    const { accounts, state } = this.#parts.config;
    const ids = accountId === undefined ? accounts.map((account) => account.accountId) : [accountId];
    const read = ids.map(async (id) => [id, (await state.read(id)).connections] as const);
    return new Map(await Promise.all(read));
  }

  #compare(accountId: string, before: Connections, now: Connections): void {
    for (const connectorId of new Set([...before.keys(), ...now.keys()])) {
      const [was, is] = [before.get(connectorId), now.get(connectorId)];
      this.#dispose(accountId, connectorId, is);
      this.#serve(accountId, connectorId, is, was?.connectionId !== is?.connectionId);
    }
  }

  /** Gives up the credentials of connections that are over. */
  #dispose(accountId: string, connectorId: string, connection: Connection | undefined): void {
    const isOver = connection === undefined || connection.state === "disconnected";
    const kept = isOver ? [] : [connection.connectionId, ...connection.others];
    for (const credential of this.#parts.vault.takeOthers(accountId, connectorId, kept)) {
      this.#parts.giveUp(connectorId, credential);
    }
  }

  /** What can't be used any more ends at once; what is served with another credential, when its calls are over. */
  #serve(accountId: string, connectorId: string, connection: Connection | undefined, isServedAnew: boolean): void {
    const { pool } = this.#parts;
    if (connection?.state !== "connected") void pool.close(accountId, connectorId);
    else if (isServedAnew) pool.retire(accountId, connectorId);
  }
}

/** The connection that a credential came for: the newest of all after `add`, else the one in use. */
export function subjectOf(change: AuthorizationChange, connection: Connection): string {
  return (change.kind === "add" ? connection.others.at(-1) : undefined) ?? connection.connectionId;
}
