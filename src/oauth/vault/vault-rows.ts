import type { OAuthStore } from "../oauth-options.js";
import type { Credential, CredentialConflict, CredentialKey } from "../ports.js";
import { assertClaim, assertTime, decideAcquire, decideRelease, decideRenew, type Leases } from "./lease-rules.js";
import type { LeaseVerdict } from "./lease-rules.js";
import { assertLength, assertRoom, type VaultBounds } from "./store-limits.js";

/** An entry whose text can't be had. It stays what it is until somebody writes over it. */
export interface DamagedCredential {
  readonly kind: "damaged";
  /** What a reader is told. */
  readonly fault: Error;
}

/** The rows inside one transaction. */
export interface VaultRows {
  get(key: CredentialKey): Credential | DamagedCredential | undefined;
  /** Those of one resource, in any order, without the damaged ones. */
  list(resource: string): readonly Credential[];
  /** How many there are of all resources, the damaged ones included. */
  count(): number;
  put(credential: Credential): void;
  remove(key: CredentialKey): void;
  /** A number greater than every one before it, in whichever process. */
  nextGeneration(): number;
  leases(): Leases;
  keepLeases(leases: Leases): void;
}

/** Where rows are kept. */
export interface VaultEngine {
  /** Reads one row or several, each of them as a whole. */
  read<T>(work: (rows: VaultRows) => T): Promise<T>;
  /** One transaction, alone in all processes. `work` is synchronous, and each of its changes is made as a whole or not at all. */
  transact<T>(work: (rows: VaultRows) => T): Promise<T>;
}

/** The rules of the ports, on rows wherever they are kept. */
export function storeOnRows(engine: VaultEngine, bounds: VaultBounds): OAuthStore {
  return {
    credentials: {
      get: (key) => engine.read((rows) => readable(rows.get(key))),
      list: (resource) =>
        engine.read((rows) => [...rows.list(resource)].toSorted((a, b) => (a.name < b.name ? -1 : 1))),
      put: async ({ resource, name, text, expected, now }) => {
        assertLength(text, bounds);
        assertTime(now);
        return engine.transact((rows) => {
          const found = rows.get({ resource, name });
          // Nobody can have seen a generation of what nobody can read: who expects nothing may write over it.
          const current = isDamaged(found) && expected === undefined ? undefined : readable(found);
          if (current?.generation !== expected) return conflict(current);
          if (found === undefined) assertRoom(rows.count(), bounds);
          const generation = rows.nextGeneration();
          rows.put({ resource, name, generation, text, updatedAt: now });
          return { kind: "written", generation };
        });
      },
      remove: (key, expected) =>
        engine.transact((rows) => {
          const current = readable(rows.get(key));
          if (current?.generation !== expected) return conflict(current);
          rows.remove(key);
          return { kind: "removed" };
        }),
    },
    leases: {
      acquire: async (claim) => {
        assertClaim(claim);
        return engine.transact((rows) => settle(rows, decideAcquire(rows.leases(), claim)));
      },
      renew: async (claim) => {
        assertClaim(claim);
        return engine.transact((rows) => settle(rows, decideRenew(rows.leases(), claim)));
      },
      release: (name, holder) => engine.transact((rows) => settle(rows, decideRelease(rows.leases(), name, holder))),
    },
  };
}

function settle<A>(rows: VaultRows, { answer, leases }: LeaseVerdict<A>): A {
  if (leases !== undefined) rows.keepLeases(leases);
  return answer;
}

function conflict(current: Credential | undefined): CredentialConflict {
  return { kind: "conflict", current };
}

function isDamaged(found: Credential | DamagedCredential | undefined): found is DamagedCredential {
  return found !== undefined && "kind" in found;
}

function readable(found: Credential | DamagedCredential | undefined): Credential | undefined {
  if (isDamaged(found)) throw found.fault;
  return found;
}
