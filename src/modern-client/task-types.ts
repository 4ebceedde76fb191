import type { JsonObject } from "../protocol/index.js";

/** How a task stands. The last three are its end. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A task as it was created: plain JSON, to be stored and resumed elsewhere. Source: ext-tasks, Tasks. */
export interface Task {
  readonly taskId: string;
  readonly status: TaskStatus;
  /** The server's own words, for people. */
  readonly statusMessage?: string | undefined;
  /** ISO 8601, by the server's clock. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** How long the server keeps the task, in milliseconds from `createdAt`; `null` without a limit. */
  readonly ttlMs: number | null;
  /** How long to wait between two looks at it, in milliseconds. */
  readonly pollIntervalMs?: number | undefined;
}

/** A task as `tasks/get` shows it, with what its status brings. Source: ext-tasks, Task Status. */
export interface TaskState extends Task {
  /** Of a `completed` task: what the call would have returned. */
  readonly result?: JsonObject | undefined;
  /** Of a `failed` task: its JSON-RPC error. */
  readonly error?: JsonObject | undefined;
  /** Of a task in `input_required`: all that is asked and not answered, by key. */
  readonly inputRequests?: JsonObject | undefined;
  readonly [member: string]: unknown;
}
