import { isJsonObject } from "../protocol/index.js";

interface ToldTask {
  /** Open subscriptions that tell of it. */
  subscriptions: number;
  /** What was heard of it. */
  news: number;
}

/**
 * What is heard of tasks beside looking at them: which ones an open subscription tells of, and that there is something new.
 *
 * Source: ext-tasks, Task Status Notifications.
 */
export class TaskNews {
  readonly #told = new Map<string, ToldTask>();
  readonly #watchers = new Map<string, Set<() => void>>();

  /** How often something was heard of this task; `undefined` when no subscription tells of it. News can get lost. */
  heardOf(taskId: string): number | undefined {
    return this.#told.get(taskId)?.news;
  }

  /** A subscription with these ids was acknowledged. What is returned says that it is over, once. */
  follow(taskIds: unknown): () => void {
    const ids = Array.isArray(taskIds) ? taskIds.filter((id) => typeof id === "string") : [];
    for (const id of ids) {
      const told = this.#told.get(id);
      if (told === undefined) this.#told.set(id, { subscriptions: 1, news: 0 });
      else told.subscriptions += 1;
    }
    return () => {
      for (const id of ids.splice(0)) this.#unfollow(id);
    };
  }

  /** Has `wake` called at the next news of a task, and when nobody tells of it any more. What is returned takes it back. */
  watch(taskId: string, wake: () => void): () => void {
    const watchers = this.#watchers.get(taskId) ?? new Set();
    this.#watchers.set(taskId, watchers);
    watchers.add(wake);
    return () => {
      watchers.delete(wake);
      if (watchers.size === 0 && this.#watchers.get(taskId) === watchers) this.#watchers.delete(taskId);
    };
  }

  /** Takes any notification of the server. */
  heed(method: string, params: unknown): void {
    if (method !== "notifications/tasks" || !isJsonObject(params)) return;
    const { taskId } = params;
    if (typeof taskId !== "string") return;
    const told = this.#told.get(taskId);
    if (told !== undefined) told.news += 1;
    this.#wake(taskId);
  }

  #unfollow(taskId: string): void {
    const told = this.#told.get(taskId);
    if (told === undefined) return;
    told.subscriptions -= 1;
    if (told.subscriptions > 0) return;
    this.#told.delete(taskId);
    this.#wake(taskId);
  }

  #wake(taskId: string): void {
    // A copy: who is woken takes itself back.
    for (const wake of Array.from(this.#watchers.get(taskId) ?? [])) wake();
  }
}
