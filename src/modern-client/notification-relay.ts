import { type Diagnostic, isJsonObject, MetaKey, type RequestOptions } from "../protocol/index.js";

/** Hands a call's notifications to the caller's handlers, in order and as they arrive. */
export class NotificationRelay {
  readonly #handlers: Pick<RequestOptions, "onProgress" | "onNotification">;
  readonly #note: (diagnostic: Diagnostic) => void;
  #progress = -Infinity;

  constructor(handlers: Pick<RequestOptions, "onProgress" | "onNotification">, note: (diagnostic: Diagnostic) => void) {
    this.#handlers = handlers;
    this.#note = note;
  }

  /** Another attempt begins: its progress has nothing to do with that of the one before. */
  begin(): void {
    this.#progress = -Infinity;
  }

  /** `token`: the progress token of the request under way. Progress for another one is nobody's, and is ignored. */
  notify(method: string, params: unknown, token: number): void {
    const { onProgress, onNotification } = this.#handlers;
    if (method !== "notifications/progress" || onProgress === undefined) {
      if (onNotification !== undefined) this.#tell(onNotification, { method, params });
      return;
    }
    if (!isJsonObject(params) || params[MetaKey.progressToken] !== token) return;
    const { progress, total, message } = params;
    if (typeof progress !== "number") return;
    if (progress <= this.#progress) {
      this.#note({ kind: "progress_not_increasing", message: "Progress that does not increase was passed on." });
    }
    this.#progress = progress;
    this.#tell(onProgress, {
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    });
  }

  /** A handler can't hold a call up or end it: its promise is not awaited, its failure is a diagnostic. */
  #tell<V>(handler: (value: V) => unknown, value: V): void {
    const onError = (): void => this.#note({ kind: "handler_failed", message: "A handler of the call threw." });
    try {
      const returned = handler(value);
      if (returned instanceof Promise) returned.catch(onError);
    } catch {
      onError();
    }
  }
}
