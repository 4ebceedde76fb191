import { RemoteConnectorError } from "../../errors.js";
import { invalidAnswer, isJsonObject, type JsonObject, peerError, plainText } from "../../protocol/index.js";
import type { Task, TaskStatus } from "../task-types.js";

/** What a task's state means for the call that waits for it. */
export type TaskVerdict =
  | { readonly kind: "pending" }
  | { readonly kind: "asks"; readonly inputRequests: JsonObject }
  | { readonly kind: "completed"; readonly result: JsonObject }
  | { readonly kind: "failed"; readonly error: RemoteConnectorError };

const STATUSES: readonly TaskStatus[] = ["working", "input_required", "completed", "failed", "cancelled"];

/**
 * Reads the members that every state of a task has. Pure. Throws `invalid_answer` (`unknown`) for what is no task, or
 * another than `expectedId`. Source: ext-tasks, Tasks.
 */
export function parseTask(result: JsonObject, expectedId?: string): Task {
  const { taskId, createdAt, lastUpdatedAt, ttlMs, statusMessage, pollIntervalMs } = result;
  const status = STATUSES.find((known) => known === result["status"]);
  if (typeof taskId !== "string") throw invalidAnswer("a task without a taskId");
  if (expectedId !== undefined && taskId !== expectedId) throw invalidAnswer("a task of another taskId");
  if (status === undefined) throw invalidAnswer("a task of an unknown status");
  if (typeof createdAt !== "string" || typeof lastUpdatedAt !== "string")
    throw invalidAnswer("a task without its times");
  if (ttlMs !== null && !isDuration(ttlMs)) throw invalidAnswer("a task without a ttlMs");
  if (pollIntervalMs !== undefined && !isDuration(pollIntervalMs)) throw invalidAnswer("a pollIntervalMs that is none");
  return {
    taskId,
    status,
    ...(typeof statusMessage === "string" ? { statusMessage } : {}),
    createdAt,
    lastUpdatedAt,
    ttlMs,
    ...(pollIntervalMs === undefined ? {} : { pollIntervalMs }),
  };
}

/** Judges a state that {@link parseTask} took. Pure; throws nothing. Source: ext-tasks, Task Status. */
export function classifyTask(task: Task, state: JsonObject): TaskVerdict {
  const { inputRequests, result, error } = state;
  switch (task.status) {
    case "working":
      return { kind: "pending" };
    case "input_required":
      if (isJsonObject(inputRequests)) return { kind: "asks", inputRequests };
      return { kind: "failed", error: invalidAnswer("a task that asks for input without inputRequests") };
    case "completed":
      if (isJsonObject(result)) return { kind: "completed", result };
      return { kind: "failed", error: invalidAnswer("a completed task without a result") };
    case "failed": {
      const { code, message, data } = isJsonObject(error) ? error : {};
      if (typeof code !== "number" || typeof message !== "string") {
        return { kind: "failed", error: invalidAnswer("a failed task without a JSON-RPC error") };
      }
      return { kind: "failed", error: peerError({ code, message, data }) };
    }
    case "cancelled":
      return { kind: "failed", error: taskCancelled(task) };
  }
}

/** What of `inputRequests` was not presented before. Pure. A key stands for one request for as long as its task lives. */
export function unseenRequests(inputRequests: JsonObject, presented: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(inputRequests).filter(([key]) => !presented.has(key)));
}

function taskCancelled({ taskId, statusMessage }: Task): RemoteConnectorError<"task_cancelled"> {
  return new RemoteConnectorError("task_cancelled", {
    message: "The server's task was cancelled.",
    delivery: "answered",
    details: { taskId, statusMessage: statusMessage === undefined ? undefined : plainText(statusMessage, 256) },
  });
}

function isDuration(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
