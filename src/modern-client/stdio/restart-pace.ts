/** How a server that keeps dying is started again. */
export interface RestartConfig {
  /** `never`: one process, and what ended it ends every later request. */
  readonly restart: "on_request" | "never";
  readonly firstRestartDelayMs: number;
  readonly longestRestartDelayMs: number;
  readonly random: () => number;
}

/**
 * How long to wait before the next start, in milliseconds. Pure but for its port.
 *
 * `failures`: starts in a row that failed, or whose process died early. None after a process that lived for long; then
 * the pause doubles up to the longest. Half of it is random.
 */
export function restartDelayMs(failures: number, config: RestartConfig): number {
  if (failures === 0) return 0;
  const { firstRestartDelayMs, longestRestartDelayMs, random } = config;
  const delayMs = Math.min(longestRestartDelayMs, firstRestartDelayMs * 2 ** Math.min(failures - 1, 40));
  return Math.ceil((delayMs * (1 + random())) / 2);
}

/** Whether a process that served for so long counts as one that works: what ended it is no sign of the next one's fate. */
export function wasStable(servedMs: number, { longestRestartDelayMs }: RestartConfig): boolean {
  return servedMs >= longestRestartDelayMs;
}
