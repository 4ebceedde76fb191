import type { Diagnostic, Notification } from "../protocol/index.js";

type Listener = (notification: Notification) => unknown;

/** Hands the notifications of a legacy server to everyone who listens, the subscriptions first. */
export class NotificationFan {
  readonly #listeners = new Set<Listener>();
  readonly #onNotification: Listener | undefined;
  readonly #onDiagnostic: (diagnostic: Diagnostic) => void;

  constructor(onNotification: Listener | undefined, onDiagnostic: (diagnostic: Diagnostic) => void) {
    this.#onNotification = onNotification;
    this.#onDiagnostic = onDiagnostic;
  }

  /** Adds a listener. What is returned takes it away. */
  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  tell(notification: Notification): void {
    for (const listener of this.#listeners) listener(notification);
    try {
      const outcome = this.#onNotification?.(notification);
      if (outcome instanceof Promise) outcome.catch(this.#failed);
    } catch {
      this.#failed();
    }
  }

  readonly #failed = (): void => {
    const message = "The handler onNotification of the client threw.";
    this.#onDiagnostic({ kind: "handler_failed", message, subject: "onNotification" });
  };
}
