import { isRemoteConnectorError } from "../errors.js";
import type { AuthorizationChanges } from "./authorization-changes.js";
import type { Connection } from "./authorization-state.js";
import type { Authorizer, Credential, CredentialVault } from "./authorizing/index.js";
import type { GatewayConfig, GatewayConnector } from "./options.js";
import type { UpstreamPool } from "./upstream-pool.js";

export interface CredentialCareParts {
  readonly config: GatewayConfig;
  readonly vault: CredentialVault;
  readonly pool: UpstreamPool;
  readonly authorizer: Authorizer;
  readonly changes: AuthorizationChanges;
}

/** Why a provider refused the credential of an account that is still connected. */
export type CredentialTrouble = "credential_not_renewed" | "credential_replaced";

/** How long a credential that could not be renewed is used as it is before the next attempt. */
const RENEWAL_PAUSE_MS = 5_000;

/** Which credential an account's requests carry, and that it is one that the provider still takes. */
export class CredentialCare {
  readonly #parts: CredentialCareParts;
  /** Renewals under way, and those that failed, with the time of the next attempt. */
  readonly #renewing = new WeakMap<Credential, Promise<void>>();
  readonly #pausedUntilMs = new WeakMap<Credential, number>();

  constructor(parts: CredentialCareParts) {
    this.#parts = parts;
  }

  /**
   * Runs `work` with the credential of the connection in use; `undefined` for one that was granted without. It is taken from it
   * before anything else happens: a credential that is replaced is wiped.
   */
  async use<T>(
    accountId: string,
    connectorId: string,
    work: (credential: Credential | undefined) => T | Promise<T>,
  ): Promise<T> {
    const connection = await this.#connectionOf(accountId, connectorId);
    return work(connection === undefined ? undefined : this.#credentialOf(accountId, connectorId, connection));
  }

  /**
   * Replaces a token that is about to expire, once for all who ask. Afterwards the upstream is opened with the new one, or the
   * account has to authorize again, or, when the provider could not be asked, all is as it was. One that has expired and can't be
   * replaced makes the account authorize again too.
   */
  async renewIfDue(accountId: string, { authorizing, connectorId }: GatewayConnector): Promise<void> {
    if (authorizing?.kind !== "oauth") return;
    const connection = await this.#connectionOf(accountId, connectorId);
    if (connection === undefined) return;
    const credential = this.#credentialOf(accountId, connectorId, connection);
    if (credential === undefined) return;
    const now = this.#parts.config.clock.now();
    const { refreshToken, renewAtMs } = credential;
    if (renewAtMs === undefined || now < renewAtMs) return;
    if (refreshToken === undefined) return this.#expire(accountId, connectorId, connection);
    if (now < (this.#pausedUntilMs.get(credential) ?? now)) return;
    const renewing =
      this.#renewing.get(credential) ?? this.#renew(accountId, connectorId, connection, credential, refreshToken);
    this.#renewing.set(credential, renewing);
    await renewing;
  }

  /**
   * Notes that a provider refused what an upstream was opened with: if that is still the connection's credential, the account
   * has to authorize again. Not while it is about to be renewed, and only the authorization server is away. A connection whose
   * credential was lost with the gateway's memory is refused like one that has a wrong one. Resolves to why the call failed, if
   * the account is still connected; to `undefined` where credentials are not the account's.
   */
  async refuse(
    accountId: string,
    { authorizing, connectorId }: GatewayConnector,
    refused: Credential | undefined,
  ): Promise<CredentialTrouble | undefined> {
    if (refused === undefined && authorizing === undefined) return undefined;
    if (refused !== undefined && this.#pausedUntilMs.has(refused)) return "credential_not_renewed";
    const connection = await this.#connectionOf(accountId, connectorId);
    if (connection !== undefined && this.#credentialOf(accountId, connectorId, connection) === refused) {
      await this.#expire(accountId, connectorId, connection);
    }
    return "credential_replaced";
  }

  async #renew(
    accountId: string,
    connectorId: string,
    connection: Connection,
    credential: Credential,
    refreshToken: Buffer,
  ): Promise<void> {
    const { authorizer, config, pool, vault } = this.#parts;
    const { connectionId } = connection;
    const renewal = await authorizer.renew(connectorId, refreshToken);
    this.#renewing.delete(credential);
    const isCurrent = vault.get(accountId, connectorId, connectionId) === credential;
    if (renewal === undefined) this.#pausedUntilMs.set(credential, config.clock.now() + RENEWAL_PAUSE_MS);
    else if (renewal === "over") {
      if (isCurrent) await this.#expire(accountId, connectorId, connection);
    } else if (isCurrent) {
      vault.set(accountId, connectorId, connectionId, renewal);
      pool.retire(accountId, connectorId);
    } else authorizer.giveUp(connectorId, renewal);
  }

  /** The account has to authorize again, unless something else was connected meanwhile. */
  async #expire(accountId: string, connectorId: string, { connectionVersion }: Connection): Promise<void> {
    await this.#parts.changes.change(accountId, connectorId, { kind: "expire", connectionVersion });
  }

  async #connectionOf(accountId: string, connectorId: string): Promise<Connection | undefined> {
    const { connections } = await this.#parts.config.state.read(accountId);
    const connection = connections.get(connectorId);
    return connection?.state === "connected" ? connection : undefined;
  }

  #credentialOf(accountId: string, connectorId: string, { connectionId }: Connection): Credential | undefined {
    return this.#parts.vault.get(accountId, connectorId, connectionId);
  }
}

/** An upstream's answer that it does not take the credential. */
export function isUnauthorized(error: unknown): boolean {
  if (isRemoteConnectorError(error, "unexpected_answer")) return error.details.status === 401;
  return isRemoteConnectorError(error, "peer_error") && error.details.httpStatus === 401;
}
