import type { Diagnostic, Notification } from "../protocol/index.js";
import type { LegacyClientConfig } from "./client-options.js";
import { callHandler } from "./handlers.js";

/** Hands on to the client's own listeners what the server says by itself, and what of it was ignored. */
export class ClientListeners {
  readonly #listeners: Pick<LegacyClientConfig, "onDiagnostic" | "onNotification">;
  #reportedStray = false;

  constructor(listeners: Pick<LegacyClientConfig, "onDiagnostic" | "onNotification">) {
    this.#listeners = listeners;
  }

  notification(notification: Notification): void {
    const { onDiagnostic, onNotification } = this.#listeners;
    if (onNotification === undefined) return;
    const subject = "onNotification";
    callHandler(onNotification, notification, () =>
      onDiagnostic({ kind: "handler_failed", message: "The handler onNotification of the client threw.", subject }),
    );
  }

  /** Reports why a message was ignored; of what is no message only the first. */
  ignored(diagnostic: Diagnostic | undefined): void {
    if (diagnostic === undefined) return;
    if (diagnostic.kind === "not_a_message") {
      if (this.#reportedStray) return;
      this.#reportedStray = true;
    }
    this.#listeners.onDiagnostic(diagnostic);
  }
}
