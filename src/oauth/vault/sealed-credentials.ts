import { isRemoteConnectorError } from "../../errors.js";
import type { OAuthStore } from "../oauth-options.js";
import type { Credential, CredentialConflict, CredentialStore } from "../ports.js";
import type { VaultKey } from "./vault-key.js";

/** What {@link sealedCredentials} can be told. */
export interface SealingOptions {
  /**
   * Whether texts that were written before anything was sealed are taken as they are; they are sealed when they are next written. Whoever
   * can write into the store could then put a text there. Default false: they are refused.
   */
  readonly adoptsUnsealed?: boolean | undefined;
}

/**
 * The credentials of a store, each text of which is sealed before it gets there. An envelope opens at its own (resource, name) alone.
 *
 * An entry that can't be opened makes `get` reject with `oauth_invalid` about a `credential`, and so do `put` and `remove` where they would
 * have to show it; `list` leaves it out. Nobody can have seen what it says, so that `put` with nothing expected writes over it.
 *
 * A store's own limit of a text's length counts what is sealed, which is a third longer than what was given.
 */
export function sealedCredentials(
  store: CredentialStore,
  key: VaultKey,
  { adoptsUnsealed = false }: SealingOptions = {},
): CredentialStore {
  const unseal = (row: Credential): Credential => {
    if (adoptsUnsealed && isUnsealed(row.text)) return row;
    return { ...row, text: key.open(row.text, row) };
  };
  /** `undefined` for one that can't be opened. */
  const tryUnseal = (row: Credential): Credential | undefined => {
    try {
      return unseal(row);
    } catch (error) {
      if (isRemoteConnectorError(error, "oauth_invalid")) return undefined;
      throw error;
    }
  };
  const conflict = ({ kind, current }: CredentialConflict): CredentialConflict => ({
    kind,
    current: current && unseal(current),
  });
  return {
    get: async (place) => {
      const row = await store.get(place);
      return row && unseal(row);
    },
    list: async (resource) => {
      const rows = await store.list(resource);
      return rows.flatMap((row) => tryUnseal(row) ?? []);
    },
    put: async (put) => {
      let { expected } = put;
      for (;;) {
        const result = await store.put({ ...put, expected, text: key.seal(put.text, put) });
        if (result.kind === "written") return result;
        const { current } = result;
        if (put.expected !== undefined || current === undefined || tryUnseal(current) !== undefined)
          return conflict(result);
        expected = current.generation;
      }
    },
    remove: async (place, expected) => {
      const result = await store.remove(place, expected);
      return result.kind === "conflict" ? conflict(result) : result;
    },
  };
}

/** A store with its credentials sealed, as {@link sealedCredentials} says, and its leases as they are. */
export function sealedStore(store: OAuthStore, key: VaultKey, options?: SealingOptions): OAuthStore {
  return { credentials: sealedCredentials(store.credentials, key, options), leases: store.leases };
}

/** What this package writes is a JSON object, which no envelope is. Anything else is a damaged envelope. */
function isUnsealed(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
