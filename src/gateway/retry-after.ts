/**
 * How long a `Retry-After` asks to wait, in milliseconds from `nowMs` (Unix time); `undefined` when it says nothing usable.
 * A date that has passed is 0. Source: RFC 9110, Retry-After.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const trimmed = value.trim();
  if (/^\d{1,9}$/.test(trimmed)) return Number(trimmed) * 1_000;
  if (!/^[A-Z][a-z]{2,8}, /.test(trimmed)) return undefined;
  const at = Date.parse(trimmed);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
