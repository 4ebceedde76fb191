import type { ActiveScope } from "./active-scope.js";
import type { ReconcileEvent, ReconcileFact } from "./event-facts.js";
import type { QueueDepth } from "./keyed-queue.js";

/** Keys of the active scopes, as they were when each was last looked at. */
export interface KeyMetrics {
  /** Those that were looked at in their scope's present epoch. */
  readonly known: number;
  /** A run works on them. */
  readonly running: number;
  /** Someone else works on them and will report. */
  readonly starting: number;
  /** They failed or were put off, and are tried again later. */
  readonly waiting: number;
  /** They have used their failure budget up, and are only probed. */
  readonly parked: number;
}

/** How long runs took, by the wall clock, in milliseconds. One that was left behind counts when it ends, if it does. */
export interface RunDurations {
  readonly count: number;
  readonly totalMs: number;
  readonly longestMs: number;
  /** Runs that took up to `upToMs`, and longer than the bucket before. The last has no end. */
  readonly buckets: readonly { readonly upToMs: number; readonly count: number }[];
}

/** What a controller did since it was made, and what it is at. Counts only grow; everything else is of now. */
export interface ReconcileMetrics {
  readonly activeScopes: number;
  /** Work of every kind: keys, looks at whole scopes, exits. */
  readonly queue: QueueDepth;
  readonly keys: KeyMetrics;
  readonly runs: RunDurations;
  /** Events so far, by kind: `run_started` are runs, `failed` are backoffs, `planned` are changes of what is desired. */
  readonly events: Readonly<Record<ReconcileFact["kind"], number>>;
  /** Those of the `failed` that count against the failure budget. */
  readonly failuresThatCount: number;
}

/** What a snapshot shows that is not counted. */
export interface MetricsMoment {
  readonly depth: QueueDepth;
  readonly scopes: Iterable<ActiveScope>;
}

const NO_EVENTS: Readonly<Record<ReconcileFact["kind"], number>> = {
  scope_activated: 0,
  scope_shut: 0,
  planned: 0,
  fenced: 0,
  run_started: 0,
  observed: 0,
  starting: 0,
  requeued: 0,
  terminal: 0,
  failed: 0,
  superseded: 0,
  abandoned: 0,
  lost: 0,
  removed: 0,
  trouble: 0,
  listener_dropped: 0,
};

const BUCKETS_MS = [10, 100, 1_000, 10_000, 60_000, Infinity];

/** Counts what happens. */
export class MetricsRecorder {
  readonly #events: Record<ReconcileFact["kind"], number> = { ...NO_EVENTS };
  readonly #buckets = BUCKETS_MS.map((upToMs) => ({ upToMs, count: 0 }));
  #failuresThatCount = 0;
  #runs = 0;
  #totalMs = 0;
  #longestMs = 0;

  count(event: ReconcileEvent): void {
    this.#events[event.kind] += 1;
    if (event.kind === "failed" && event.counts) this.#failuresThatCount += 1;
  }

  /** A run has ended. A clock that was set back meanwhile makes it one that took no time. */
  runEnded(durationMs: number): void {
    const tookMs = Math.max(0, durationMs);
    this.#runs += 1;
    this.#totalMs += tookMs;
    this.#longestMs = Math.max(this.#longestMs, tookMs);
    const bucket = this.#buckets.find(({ upToMs }) => tookMs <= upToMs);
    if (bucket !== undefined) bucket.count += 1;
  }

  /** A copy of everything, which does not change any more. */
  snapshot({ depth, scopes }: MetricsMoment): ReconcileMetrics {
    const active = [...scopes];
    return {
      activeScopes: active.length,
      queue: depth,
      keys: countKeys(active),
      runs: {
        count: this.#runs,
        totalMs: this.#totalMs,
        longestMs: this.#longestMs,
        buckets: this.#buckets.map((bucket) => ({ ...bucket })),
      },
      events: { ...this.#events },
      failuresThatCount: this.#failuresThatCount,
    };
  }
}

function countKeys(scopes: readonly ActiveScope[]): KeyMetrics {
  const keys = { known: 0, running: 0, starting: 0, waiting: 0, parked: 0 };
  for (const scope of scopes) {
    for (const { phase, pause } of scope.states) {
      keys.known += 1;
      if (phase.kind !== "resting") keys[phase.kind] += 1;
      else if (pause !== undefined) keys[pause] += 1;
    }
  }
  return keys;
}
