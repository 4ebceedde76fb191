import type { OAuthClient } from "../oauth-client.js";
import type { Credential, CredentialKey, CredentialStore } from "../ports.js";
import { bindingText, parseBindingRow, parseRegistrationRow, registrationText } from "./client-rows.js";

/** A dynamic registration as it is kept. */
export interface KeptClient {
  readonly client: OAuthClient;
  /** Of the row that it is in. */
  readonly generation: number;
}

/** Whether what somebody else wrote takes the place of what was to be written. It throws for what is damaged. */
type Adopts<T> = (row: Credential) => T | undefined;

/**
 * What is kept of clients, each thing at a place: of an MCP endpoint its dynamic registrations, one for each issuer; of all of them together
 * where clients that were registered by hand without an issuer belong. Each write compares and sets, so that processes that are at it at once end up with the same.
 *
 * Everything rejects as the store does, and reading with `oauth_invalid` (subject `credential`) for a damaged row. `keep` writes over
 * one of a registration; where a client belongs is told by nothing else, and has to be configured then.
 */
export class ClientBook {
  readonly #store: CredentialStore;
  readonly #wallNow: () => number;

  constructor(store: CredentialStore, wallNow: () => number) {
    this.#store = store;
    this.#wallNow = wallNow;
  }

  /** The registration that is kept for an endpoint at an issuer. */
  async registration(endpoint: string, issuer: string): Promise<KeptClient | undefined> {
    const row = await this.#store.get(registrationKey(endpoint, issuer));
    return row && { client: parseRegistrationRow(row, issuer), generation: row.generation };
  }

  /**
   * Keeps a new registration in place of the one of generation `replaced`, or of none. When somebody else was faster and theirs can be used
   * in place of this one (all redirect URIs are in it, and its secret has not expired), it is theirs that stays and comes back.
   */
  async keep(endpoint: string, client: OAuthClient, replaced: number | undefined): Promise<KeptClient> {
    const key = registrationKey(endpoint, client.issuer);
    return this.#put(key, registrationText(client), replaced, {
      written: (generation) => ({ client, generation }),
      adopt: (row) => {
        const theirs = parseRegistrationRow(row, client.issuer);
        const isUsable = covers(theirs, client) && (theirs.secretExpiresAt ?? Infinity) > this.#wallNow();
        return isUsable ? { client: theirs, generation: row.generation } : undefined;
      },
    });
  }

  /** Removes a registration that failed, unless another one took its place. Answers whether it was there. */
  async forget(endpoint: string, issuer: string, generation: number): Promise<boolean> {
    const result = await this.#store.remove(registrationKey(endpoint, issuer), generation);
    return result.kind === "removed";
  }

  /** Where a client that was registered by hand without an issuer belongs. */
  async boundIssuer(place: string, clientId: string): Promise<string | undefined> {
    const row = await this.#store.get(bindingKey(place, clientId));
    return row && parseBindingRow(row, clientId);
  }

  /** Binds such a client to an issuer, if it is not bound. Answers where it belongs now, which may be elsewhere. A damaged row stays. */
  async bind(place: string, clientId: string, issuer: string): Promise<string> {
    return this.#put(bindingKey(place, clientId), bindingText(clientId, issuer), undefined, {
      written: () => issuer,
      adopt: (row) => parseBindingRow(row, clientId),
      keepsDamaged: true,
    });
  }

  async #put<T>(
    key: CredentialKey,
    text: string,
    expected: number | undefined,
    { adopt, keepsDamaged = false, written }: PutRules<T>,
  ): Promise<T> {
    for (let replaced = expected; ;) {
      const result = await this.#store.put({ ...key, text, expected: replaced, now: this.#wallNow() });
      if (result.kind === "written") return written(result.generation);
      const adopted = result.current && tryAdopt(result.current, adopt, keepsDamaged);
      if (adopted !== undefined) return adopted;
      replaced = result.current?.generation;
    }
  }
}

interface PutRules<T> {
  readonly written: (generation: number) => T;
  readonly adopt: Adopts<T>;
  /** A damaged row fails the write. */
  readonly keepsDamaged?: boolean;
}

function tryAdopt<T>(row: Credential, adopt: Adopts<T>, keepsDamaged: boolean): T | undefined {
  try {
    return adopt(row);
  } catch (error) {
    if (keepsDamaged) throw error;
    return undefined;
  }
}

function covers(client: OAuthClient, { redirectUris }: OAuthClient): boolean {
  return redirectUris.every((uri) => client.redirectUris.includes(uri));
}

function registrationKey(resource: string, issuer: string): CredentialKey {
  return { resource, name: `client@${issuer}` };
}

function bindingKey(resource: string, clientId: string): CredentialKey {
  return { resource, name: `binding@${clientId}` };
}
