/** When the tools of a running server are listed. */
export interface ListPace {
  readonly isRunning: boolean;
  /** Something changed after the list that runs was begun: another one follows. */
  readonly isStale: boolean;
  /** When the newest list was begun. */
  readonly startedAt: number;
  /** When the next one is to begin. */
  readonly dueAt: number | undefined;
}

/** The list that every process begins with. A change soon after it need not wait. */
export const FIRST_LIST: ListPace = { isRunning: true, isStale: false, startedAt: -Infinity, dueAt: undefined };

/** Another list begins. */
export function beginList(now: number): ListPace {
  return { ...FIRST_LIST, startedAt: now };
}

/**
 * The server told of a change. Pure. Any number of them has at most one list in `intervalMs`, and the last one of them is
 * never without one.
 */
export function noteChange(pace: ListPace, now: number, intervalMs: number): ListPace {
  if (pace.isRunning) return { ...pace, isStale: true };
  const dueAt = Math.max(now, pace.startedAt + intervalMs);
  return { ...pace, dueAt: Math.min(dueAt, pace.dueAt ?? Infinity) };
}

/** A list ended. `again`: when it is to be made again although nothing changed. Pure. */
export function endList(pace: ListPace, now: number, intervalMs: number, again: number | undefined): ListPace {
  const ended = { ...pace, isRunning: false, isStale: false, dueAt: again };
  return pace.isStale ? noteChange(ended, now, intervalMs) : ended;
}
