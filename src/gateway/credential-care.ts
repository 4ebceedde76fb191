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

  /** The credential of the connection in use. `undefined` for one that was granted without. */
  async find(accountId: string, connectorId: string): Promise<Credential | undefined> {
    return (await this.#look(accountId, connectorId))?.credential;
  }

  /**
   * Replaces a token that is about to expire, once for all who ask. Afterwards the upstream is opened with the new one, or the
   * account has to authorize again, or, when the provider could not be asked, all is as it was.
   */
  async renewIfDue(accountId: string, { authorizing, connectorId }: GatewayConnector): Promise<void> {
    if (authorizing?.kind !== "oauth") return;
    const known = await this.#look(accountId, connectorId);
    if (known?.credential === undefined) return;
    const { connection, credential } = known;
    const now = this.#parts.config.clock.now();
    const { refreshToken, renewAtMs } = credential;
    if (refreshToken === undefined || renewAtMs === undefined || now < renewAtMs) return;
    if (now < (this.#pausedUntilMs.get(credential) ?? now)) return;
    const renewing =
      this.#renewing.get(credential) ?? this.#renew(accountId, connectorId, connection, credential, refreshToken);
    this.#renewing.set(credential, renewing);
    await renewing;
  }

  /**
   * Notes that a provider refused what an upstream was opened with: if that is still the connection's credential, the account
   * has to authorize again.
   */
  async refuse(accountId: string, connectorId: string, refused: Credential): Promise<void> {
    const known = await this.#look(accountId, connectorId);
    if (known?.credential !== refused) return;
    const { connectionVersion } = known.connection;
    await this.#parts.changes.change(accountId, connectorId, { kind: "expire", connectionVersion });
  }

  async #renew(
    accountId: string,
    connectorId: string,
    { connectionId, connectionVersion }: Connection,
    credential: Credential,
    refreshToken: Buffer,
  ): Promise<void> {
    const { authorizer, changes, config, pool, vault } = this.#parts;
    const renewal = await authorizer.renew(connectorId, refreshToken);
    this.#renewing.delete(credential);
    const isCurrent = vault.get(accountId, connectorId, connectionId) === credential;
    if (renewal === undefined) this.#pausedUntilMs.set(credential, config.clock.now() + RENEWAL_PAUSE_MS);
    else if (renewal === "over") {
      if (isCurrent) await changes.change(accountId, connectorId, { kind: "expire", connectionVersion });
    } else if (isCurrent) {
      vault.set(accountId, connectorId, connectionId, renewal);
      pool.retire(accountId, connectorId);
    } else authorizer.giveUp(connectorId, renewal);
  }

  async #look(
    accountId: string,
    connectorId: string,
  ): Promise<{ readonly connection: Connection; readonly credential: Credential | undefined } | undefined> {
    const { connections } = await this.#parts.config.state.read(accountId);
    const connection = connections.get(connectorId);
    if (connection?.state !== "connected") return undefined;
    return { connection, credential: this.#parts.vault.get(accountId, connectorId, connection.connectionId) };
  }
}

/** An upstream's answer that it does not take the credential. */
export function isUnauthorized(error: unknown): boolean {
  if (isRemoteConnectorError(error, "unexpected_answer")) return error.details.status === 401;
  return isRemoteConnectorError(error, "peer_error") && error.details.httpStatus === 401;
}
