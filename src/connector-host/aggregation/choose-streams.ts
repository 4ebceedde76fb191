/** A route to whose server a stream could be held. */
export interface StreamCandidate {
  readonly connectorKey: string;
  /** Whose streams are counted together; `undefined` for one that costs no stream of its own. */
  readonly origin: string | undefined;
  /** When a tool of it was called last; `undefined` for never. */
  readonly calledAt: number | undefined;
  readonly isOpen: boolean;
}

/**
 * Chooses which streams to hold: of each origin at most `maxPerOrigin`, those called most recently first. Of those that were never
 * called, one that is open stays. Pure.
 */
export function chooseStreams<Candidate extends StreamCandidate>(
  candidates: readonly Candidate[],
  maxPerOrigin: number,
): ReadonlySet<Candidate> {
  const counts = new Map<string, number>();
  const chosen = new Set<Candidate>();
  for (const candidate of [...candidates].sort(compareCandidates)) {
    const { origin } = candidate;
    if (origin !== undefined) {
      const count = counts.get(origin) ?? 0;
      if (count >= maxPerOrigin) continue;
      counts.set(origin, count + 1);
    }
    chosen.add(candidate);
  }
  return chosen;
}

function compareCandidates(a: StreamCandidate, b: StreamCandidate): number {
  const byCall = (b.calledAt ?? -1) - (a.calledAt ?? -1);
  if (byCall !== 0) return byCall;
  if (a.isOpen !== b.isOpen) return a.isOpen ? -1 : 1;
  return a.connectorKey < b.connectorKey ? -1 : 1;
}
