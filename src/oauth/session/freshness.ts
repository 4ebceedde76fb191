import type { TokenSet } from "../token-set.js";

/** A token is replaced so long before it expires, or a tenth of its life if that is less. */
const RENEW_BEFORE_MS = 60_000;

/** Whether a token is over by now. One whose end nobody knows never is. Pure. Times are Unix milliseconds. */
export function isExpired({ expiresAt }: TokenSet, wallNow: number): boolean {
  return expiresAt !== undefined && expiresAt <= wallNow;
}

/** When a token is to be replaced, of one that was written at `writtenAt`; `Infinity`: by its expiry never. Pure. */
export function renewalTime({ expiresAt }: TokenSet, writtenAt: number): number {
  if (expiresAt === undefined) return Infinity;
  const lifeMs = Math.max(0, expiresAt - writtenAt);
  return expiresAt - Math.min(RENEW_BEFORE_MS, lifeMs / 10);
}
