const UNITS = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
] as const;
const MOST_DAYS = 9_999;

/** A duration in its largest whole unit, such as `12 s` or `3 min`; a negative one, of clocks that disagree, is `0 s`. */
export function elapsedText(durationMs: number): string {
  for (const { name, ms } of UNITS) {
    if (durationMs < ms) continue;
    return `${String(Math.min(Math.floor(durationMs / ms), MOST_DAYS))} ${name}`;
  }
  return `${String(Math.max(0, Math.floor(durationMs / 1_000)))} s`;
}
