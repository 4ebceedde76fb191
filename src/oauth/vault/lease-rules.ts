import { RemoteConnectorError } from "../../errors.js";
import type { LeaseClaim, LeaseResult } from "../ports.js";

/** A lease as it is kept, under its name. Times are epoch milliseconds. */
export interface Lease {
  readonly holder: string;
  readonly grantedAt: number;
  readonly until: number;
}

export type Leases = ReadonlyMap<string, Lease>;

/** What is answered, and the leases from then on; `undefined`: as they were. */
export interface LeaseVerdict<A> {
  readonly answer: A;
  readonly leases: Leases | undefined;
}

/** How long a lease whose time is over is still there for a holder who comes back. */
const KEPT_AFTER_MS = 60 * 60_000;

/** Gives the lease, unless somebody else has it. Those whose time is over for an hour go. */
export function decideAcquire(leases: Leases, claim: LeaseClaim): LeaseVerdict<LeaseResult> {
  const present = leases.get(claim.name);
  if (present !== undefined && present.holder !== claim.holder && isRunning(present, claim.now)) {
    return { answer: { kind: "taken", holder: present.holder, until: present.until }, leases: undefined };
  }
  const kept = [...leases].filter(([, lease]) => !isLeftBehind(lease, claim.now));
  return { answer: { kind: "held", until: claim.now + claim.ttlMs }, leases: granted(kept, claim) };
}

/** Makes the claimer's own lease longer. */
export function decideRenew(leases: Leases, claim: LeaseClaim): LeaseVerdict<boolean> {
  const isOwn = leases.get(claim.name)?.holder === claim.holder;
  return { answer: isOwn, leases: isOwn ? granted(leases, claim) : undefined };
}

/** Takes the holder's own lease away. */
export function decideRelease(leases: Leases, name: string, holder: string): LeaseVerdict<boolean> {
  if (leases.get(name)?.holder !== holder) return { answer: false, leases: undefined };
  return { answer: true, leases: new Map([...leases].filter(([each]) => each !== name)) };
}

/** Throws `invalid_argument` for a claim that could not be kept. */
export function assertClaim({ ttlMs, now }: LeaseClaim): void {
  if (!Number.isSafeInteger(ttlMs) || ttlMs <= 0) throw refused("ttlMs", "is no duration");
  if (!Number.isSafeInteger(now + ttlMs) || !Number.isSafeInteger(now)) throw refused("now", "is not a safe integer");
}

/** Throws `invalid_argument` for a time that could not be kept. */
export function assertTime(now: number): void {
  if (!Number.isSafeInteger(now)) throw refused("now", "is not a safe integer");
}

/** A clock that was set back by more than the lease's time makes it one that is over: its end would never come. */
function isRunning({ grantedAt, until }: Lease, now: number): boolean {
  return now < until && now >= grantedAt - (until - grantedAt);
}

/** Whichever way the clock went. */
function isLeftBehind({ grantedAt, until }: Lease, now: number): boolean {
  return Math.abs(now - grantedAt) >= until - grantedAt + KEPT_AFTER_MS;
}

function granted(leases: Iterable<readonly [string, Lease]>, { name, holder, ttlMs, now }: LeaseClaim): Leases {
  return new Map([...leases, [name, { holder, grantedAt: now, until: now + ttlMs }]]);
}

function refused(argument: string, reason: string): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: `${argument} ${reason}.`,
    details: { argument, reason },
  });
}
