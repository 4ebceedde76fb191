import { isJsonObject, type JsonObject } from "../../protocol/index.js";

/** A request that sets up in a session what was set up in the one before it. */
export interface SetupRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** What hangs on a session beside its calls: resource subscriptions and the log level, as they were last set. */
export class SessionSetup {
  readonly #subscriptions = new Set<string>();
  #logLevel: unknown;

  /** A request succeeded. */
  remember(method: string, params: JsonObject | undefined): void {
    if (method === "logging/setLevel") {
      this.#logLevel = params?.["level"];
      return;
    }
    const uri = isJsonObject(params) ? params["uri"] : undefined;
    if (typeof uri !== "string") return;
    if (method === "resources/subscribe") this.#subscriptions.add(uri);
    else if (method === "resources/unsubscribe") this.#subscriptions.delete(uri);
  }

  /** What makes a new session like the one before it. */
  requests(): readonly SetupRequest[] {
    const subscriptions = Array.from(this.#subscriptions, (uri) => ({
      method: "resources/subscribe",
      params: { uri },
    }));
    if (this.#logLevel === undefined) return subscriptions;
    return [{ method: "logging/setLevel", params: { level: this.#logLevel } }, ...subscriptions];
  }
}
