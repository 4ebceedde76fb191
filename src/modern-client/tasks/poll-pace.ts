import type { Task } from "../task-types.js";

const DEFAULT_INTERVAL_MS = 1_000;
/** So that a server that asks for no pause can't make us spin. */
export const SHORTEST_INTERVAL_MS = 50;
const JITTER = 0.1;
/** How much longer the pauses are while a subscription tells of the task: news can get lost. */
const TOLD_FACTOR = 10;

/**
 * How long to wait before the next look at a task, in milliseconds: the server's wish or 1 s, and up to a tenth more; ten
 * times as long while a subscription tells of it. Pure but for its port. Source: ext-tasks, Task Polling.
 */
export function pollDelayMs(pollIntervalMs: number | undefined, random: () => number, isTold = false): number {
  const wishedMs = Math.max(SHORTEST_INTERVAL_MS, pollIntervalMs ?? DEFAULT_INTERVAL_MS);
  const intervalMs = isTold ? wishedMs * TOLD_FACTOR : wishedMs;
  return intervalMs + Math.floor(random() * intervalMs * JITTER);
}

/**
 * Whether a task's time has passed. Pure. `seenAt` is when this process saw it created, if it did: a server whose clock is
 * behind ours then loses nothing. Unix time in milliseconds. Source: ext-tasks, Task Polling, Response.
 */
export function hasExpired({ createdAt, ttlMs }: Task, seenAt: number | undefined, now: number): boolean {
  if (ttlMs === null) return false;
  const created = Date.parse(createdAt);
  const since = Math.max(Number.isNaN(created) ? -Infinity : created, seenAt ?? -Infinity);
  return since !== -Infinity && now >= since + ttlMs;
}
