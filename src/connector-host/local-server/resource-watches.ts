import { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";
import type { Binding, ResourceDirectory } from "./ports.js";

export interface ResourceWatchesOptions {
  readonly binding: Binding;
  /** `undefined`: the server offers no resources. */
  readonly resources: ResourceDirectory | undefined;
  readonly clock: Clock;
  readonly maxResourceSubscriptions: number;
  readonly subscribeTimeoutMs: number;
  /** Told that a resource that is watched changed; for the first time perhaps before its `add` resolves. Must not throw. */
  readonly onUpdated: (uri: string) => void;
}

interface Watch {
  readonly controller: AbortController;
  /** Resolves when the owner takes part. */
  readonly begun: Promise<void>;
}

/** The resources that one agent watches over one stream or session, each once. `clear` must be called at its end. */
export class ResourceWatches {
  readonly #options: ResourceWatchesOptions;
  readonly #open = new Map<string, Watch>();

  constructor(options: ResourceWatchesOptions) {
    this.#options = options;
  }

  /** What is watched, or about to be. */
  get uris(): readonly string[] {
    return [...this.#open.keys()];
  }

  /**
   * Watches a resource until it is removed. Resolves when its owner takes part; for one that is watched, whoever asks again.
   *
   * Rejects as {@link ResourceDirectory.subscribe}; with `limit_exceeded` when `maxResourceSubscriptions` are watched, with
   * `timeout` after `subscribeTimeoutMs`, and with `cancelled` when it was removed before. Then it is not watched.
   */
  add(uri: string, connectorKey: string | undefined): Promise<void> {
    const known = this.#open.get(uri);
    if (known !== undefined) return known.begun;
    const { maxResourceSubscriptions: limit } = this.#options;
    if (this.#open.size >= limit) return Promise.reject(tooMany(limit));
    const controller = new AbortController();
    const watch: Watch = { controller, begun: this.#begin(uri, connectorKey, controller) };
    this.#open.set(uri, watch);
    watch.begun.catch(() => {
      if (this.#open.get(uri) === watch) this.#open.delete(uri);
    });
    return watch.begun;
  }

  /** Ends the watch of a resource; does nothing without one. */
  remove(uri: string): void {
    this.#open.get(uri)?.controller.abort(removed());
    this.#open.delete(uri);
  }

  clear(): void {
    for (const uri of this.uris) this.remove(uri);
  }

  async #begin(uri: string, connectorKey: string | undefined, controller: AbortController): Promise<void> {
    const { binding, resources, clock, subscribeTimeoutMs, onUpdated } = this.#options;
    if (resources === undefined) throw noResources();
    const { signal } = controller;
    const cancelTimer = clock.schedule(subscribeTimeoutMs, () => controller.abort(tooLate(subscribeTimeoutMs)));
    const tell = (): void => {
      if (!signal.aborted) onUpdated(uri);
    };
    try {
      await resources.subscribe(binding, uri, { signal, onUpdated: tell, connectorKey });
      signal.throwIfAborted();
    } catch (error) {
      // Whoever is not told that it watches hears of no update, even if the directory still tells of some.
      controller.abort(error);
      throw error;
    } finally {
      cancelTimer();
    }
  }
}

function tooMany(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `${String(limit)} resources are watched; stop watching one, or raise maxResourceSubscriptions.`,
    details: { option: "maxResourceSubscriptions", limit },
  });
}

function tooLate(limitMs: number): RemoteConnectorError<"timeout"> {
  return new RemoteConnectorError("timeout", {
    message: `The resource's owner did not take part within ${String(limitMs)} ms (subscribeTimeoutMs).`,
    delivery: "unknown",
    details: { phase: "total", option: "subscribeTimeoutMs", limitMs },
  });
}

function removed(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The subscription was ended.",
    delivery: "unknown",
    details: { reason: "unsubscribed" },
  });
}

function noResources(): RemoteConnectorError<"unsupported"> {
  return new RemoteConnectorError("unsupported", {
    message: "This server offers no resources.",
    details: { feature: "resources/subscribe" },
  });
}
