import { RemoteConnectorError } from "../errors.js";
import type { LeaseClaim, LeaseStore } from "../oauth/index.js";
import { ColumnReader, integerColumn, textColumn } from "./columns.js";
import type { ColumnRow, RowTable, TableSpec } from "./row-table.js";
import type { SharedEngine } from "./shared-engine.js";

/** Where leases are kept. */
export const LEASE_TABLE: TableSpec = {
  name: "lease",
  keyLength: 1,
  columns: ["name", "holder", "granted_at", "until"],
};

interface Lease {
  readonly name: string;
  readonly holder: string;
  readonly grantedAt: number;
  readonly until: number;
}

/** How long a lease whose time is over is still there for a holder who comes back. */
const KEPT_AFTER_MS = 60 * 60_000;

/** The leases of a shared store. Those whose time is over for an hour go when another one is taken. */
export function sharedLeases(engine: SharedEngine): LeaseStore {
  return {
    acquire: async (claim) => {
      assertClaim(claim);
      return engine.transact(({ leases }) => {
        const { name, holder, now } = claim;
        const present = find(leases, name);
        if (present !== undefined && present.holder !== holder && isRunning(present, now)) {
          return { kind: "taken", holder: present.holder, until: present.until };
        }
        for (const row of leases.all()) {
          const lease = decode(row);
          if (isLeftBehind(lease, now)) leases.remove(textColumn(lease.name));
        }
        return { kind: "held", until: grant(leases, claim) };
      });
    },
    renew: async (claim) => {
      assertClaim(claim);
      return engine.transact(({ leases }) => {
        if (find(leases, claim.name)?.holder !== claim.holder) return false;
        grant(leases, claim);
        return true;
      });
    },
    release: (name, holder) =>
      engine.transact(({ leases }) => {
        if (find(leases, name)?.holder !== holder) return false;
        leases.remove(textColumn(name));
        return true;
      }),
  };
}

/** A clock that was set back by more than the lease's time makes it one that is over: its end would never come. */
function isRunning({ grantedAt, until }: Lease, now: number): boolean {
  return now < until && now >= grantedAt - (until - grantedAt);
}

/** Whichever way the clock went. */
function isLeftBehind({ grantedAt, until }: Lease, now: number): boolean {
  return Math.abs(now - grantedAt) >= until - grantedAt + KEPT_AFTER_MS;
}

function grant(leases: RowTable, { name, holder, ttlMs, now }: LeaseClaim): number {
  const until = now + ttlMs;
  leases.put([textColumn(name), textColumn(holder), integerColumn("now", now), integerColumn("ttlMs", until)]);
  return until;
}

function find(leases: RowTable, name: string): Lease | undefined {
  const row = leases.get(textColumn(name));
  return row && decode(row);
}

function decode(columns: ColumnRow): Lease {
  const read = new ColumnReader(LEASE_TABLE.name, columns);
  return { name: read.text(), holder: read.text(), grantedAt: read.integer(), until: read.integer() };
}

function assertClaim({ ttlMs }: LeaseClaim): void {
  if (Number.isSafeInteger(ttlMs) && ttlMs > 0) return;
  throw new RemoteConnectorError("invalid_argument", {
    message: "ttlMs must be a whole number of milliseconds above zero.",
    details: { argument: "ttlMs", reason: "is no duration" },
  });
}
