import type { Diagnostic, Notification, Progress } from "../protocol/index.js";
import type { CallSpec } from "./connection.js";
import { callHandler } from "./handlers.js";

/** Hands on to a call's own listeners what the server says before its answer. */
export class CallListeners {
  readonly #listeners: Pick<CallSpec<unknown>, "onProgress" | "onNotification">;
  readonly #note: (diagnostic: Diagnostic) => void;
  #lastProgress = -Infinity;
  #hasReported = false;

  constructor(
    listeners: Pick<CallSpec<unknown>, "onProgress" | "onNotification">,
    note: (diagnostic: Diagnostic) => void,
  ) {
    this.#listeners = listeners;
    this.#note = note;
  }

  /** Progress that does not increase is passed on, and reported once. */
  progress(progress: Progress): void {
    const { onProgress } = this.#listeners;
    if (onProgress === undefined) return;
    if (progress.progress <= this.#lastProgress && !this.#hasReported) {
      this.#hasReported = true;
      this.#note({ kind: "progress_not_increasing", message: "The server's progress does not increase." });
    }
    this.#lastProgress = progress.progress;
    callHandler(onProgress, progress, () => this.#noteHandler("onProgress"));
  }

  notification(notification: Notification): void {
    const { onNotification } = this.#listeners;
    if (onNotification === undefined) return;
    callHandler(onNotification, notification, () => this.#noteHandler("onNotification"));
  }

  #noteHandler(subject: string): void {
    this.#note({ kind: "handler_failed", message: `The handler ${subject} of a call threw.`, subject });
  }
}
