import { refuseUnknownOptions } from "../../options.js";
import type { OAuthStore } from "../oauth-options.js";
import type { Credential, CredentialKey } from "../ports.js";
import type { Leases } from "./lease-rules.js";
import { LIMIT_NAMES, resolveVaultLimits, type VaultLimits } from "./store-limits.js";
import { storeOnRows, type VaultEngine, type VaultRows } from "./vault-rows.js";

/**
 * Credentials and leases in this process, which end with it. The same contract, and the same bounds, as those of files: each method
 * is one transaction, rows are values that nobody changes afterwards. Throws `invalid_options`.
 */
export function memoryOAuthStore(limits: VaultLimits = {}): OAuthStore {
  refuseUnknownOptions(limits, LIMIT_NAMES);
  return storeOnRows(new MemoryRows(), resolveVaultLimits(limits));
}

class MemoryRows implements VaultRows, VaultEngine {
  readonly #credentials = new Map<string, Credential>();
  #leases: Leases = new Map();
  #generation = 0;

  async read<T>(work: (rows: VaultRows) => T): Promise<T> {
    return work(this);
  }

  async transact<T>(work: (rows: VaultRows) => T): Promise<T> {
    return work(this);
  }

  get(key: CredentialKey): Credential | undefined {
    return this.#credentials.get(rowId(key));
  }

  list(resource: string): readonly Credential[] {
    return [...this.#credentials.values()].filter((credential) => credential.resource === resource);
  }

  count(): number {
    return this.#credentials.size;
  }

  put(credential: Credential): void {
    this.#credentials.set(rowId(credential), Object.freeze(credential));
  }

  remove(key: CredentialKey): void {
    this.#credentials.delete(rowId(key));
  }

  nextGeneration(): number {
    this.#generation += 1;
    return this.#generation;
  }

  leases(): Leases {
    return this.#leases;
  }

  keepLeases(leases: Leases): void {
    this.#leases = leases;
  }
}

function rowId({ resource, name }: CredentialKey): string {
  return JSON.stringify([resource, name]);
}
