import { type Credential, wipeCredential } from "./credential.js";

/** The credentials of accounts' connections, in memory. Lists nothing and shows nothing. */
export class CredentialVault {
  /** By account and connector, then by connection. */
  readonly #credentials = new Map<string, Map<string, Credential>>();

  /** The credential of a connection; none when it was granted without one. */
  get(accountId: string, connectorId: string, connectionId: string): Credential | undefined {
    return this.#credentials.get(keyOf(accountId, connectorId))?.get(connectionId);
  }

  /** Keeps a credential; the one before is wiped. */
  set(accountId: string, connectorId: string, connectionId: string, credential: Credential): void {
    const key = keyOf(accountId, connectorId);
    const known = this.#credentials.get(key) ?? new Map<string, Credential>();
    const before = known.get(connectionId);
    if (before !== undefined) wipeCredential(before);
    known.set(connectionId, credential);
    this.#credentials.set(key, known);
  }

  /** Takes out the credentials of all connections that are not among `kept`. Whoever takes them wipes them. */
  takeOthers(accountId: string, connectorId: string, kept: readonly string[]): readonly Credential[] {
    const key = keyOf(accountId, connectorId);
    const known = this.#credentials.get(key);
    if (known === undefined) return [];
    const taken = [...known].filter(([connectionId]) => !kept.includes(connectionId));
    for (const [connectionId] of taken) known.delete(connectionId);
    if (known.size === 0) this.#credentials.delete(key);
    return taken.map(([, credential]) => credential);
  }

  /** Wipes everything. */
  clear(): void {
    for (const known of this.#credentials.values()) for (const credential of known.values()) wipeCredential(credential);
    this.#credentials.clear();
  }
}

function keyOf(accountId: string, connectorId: string): string {
  return JSON.stringify([accountId, connectorId]);
}
