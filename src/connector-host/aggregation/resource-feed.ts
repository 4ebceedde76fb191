import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { RpcCode } from "../../protocol/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import { createAdmitter, type Route } from "../routes/index.js";
import type { AggregatedDirectoryOptions } from "./ports.js";

type UpstreamSubscription = ReturnType<RemoteMcpClient["listen"]>;

export interface ResourceFeedOptions extends Pick<AggregatedDirectoryOptions, "clock" | "reach" | "routes"> {
  readonly uri: string;
  /** The route that its owner has now; `undefined` while it has none. */
  readonly currentRoute: () => Route<RemoteMcpClient> | undefined;
  /** Told when the subscription could not be opened even once: nothing comes of this feed. */
  readonly onRefused: () => void;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * What the owner of one resource tells of its changes, for everybody who listens. The upstream subscription is opened again over
 * the connector's next route, and after a pause when it ended; behind each gap listeners are told that the resource may have
 * changed.
 */
export class ResourceFeed {
  readonly #options: ResourceFeedOptions;
  readonly #listeners = new Set<() => void>();
  #subscription: UpstreamSubscription | undefined;
  #wasOpen = false;
  /** When the subscription was opened; `undefined` while it is not. */
  #openedAt: number | undefined;
  #failures = 0;
  #stopPause: (() => void) | undefined;
  #isClosed = false;
  #opened: () => void = ignore;
  #refused: (error: unknown) => void = ignore;
  /** Resolves when the owner takes part. Rejects when it does not. */
  readonly opened = new Promise<void>((resolve, reject) => {
    this.#opened = resolve;
    this.#refused = reject;
  });

  constructor(options: ResourceFeedOptions) {
    this.#options = options;
    this.opened.catch(ignore);
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Adds a listener until the returned function is called. */
  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Subscribes over this route, and no longer over another. */
  open(route: Route<RemoteMcpClient>): void {
    if (this.#isClosed) return;
    this.#leave();
    const { routes, uri } = this.#options;
    const filter = { resourceSubscriptions: [uri] };
    const subscription = route.client.listen(filter, { admit: createAdmitter(routes, route) });
    this.#subscription = subscription;
    void this.#follow(route, subscription);
  }

  /** Ends the upstream subscription. Listeners are told nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#leave();
  }

  async #follow(route: Route<RemoteMcpClient>, subscription: UpstreamSubscription): Promise<void> {
    let failure: unknown;
    try {
      const { resourceSubscriptions = [] } = await subscription.acknowledged;
      if (this.#subscription !== subscription) return;
      if (resourceSubscriptions.length === 0) throw noSubscriptions();
      this.#onOpen();
      for await (const { method } of subscription) if (method === "notifications/resources/updated") this.#tell();
    } catch (error) {
      failure = error;
    }
    if (this.#subscription === subscription) this.#onEnd(route, failure);
  }

  #onOpen(): void {
    this.#openedAt = this.#options.clock.now();
    if (this.#wasOpen) this.#tell();
    this.#wasOpen = true;
    this.#opened();
  }

  /** It ended, and nobody here ended it. */
  #onEnd(route: Route<RemoteMcpClient>, failure: unknown): void {
    const openedAt = this.#openedAt;
    this.#leave();
    const { clock, currentRoute, onRefused, reach } = this.#options;
    // A route that was withdrawn has a successor, which comes with its publication, or none.
    const isOver = route.state !== "open" || currentRoute() !== route;
    if (failure !== undefined && !isOver) reach.onFailure(route, failure);
    if (!this.#wasOpen) {
      const next = currentRoute();
      if (isOver && next !== undefined) return this.open(next);
      this.#isClosed = true;
      this.#refused(failure === undefined ? noSubscriptions() : refusalOf(failure));
      return onRefused();
    }
    // One that is open again at once and ends at once would have its listeners read forever.
    const hasLasted = openedAt !== undefined && clock.now() - openedAt >= LONGEST_PAUSE_MS;
    if (hasLasted) this.#failures = 0;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#stopPause = clock.schedule(pauseMs, () => {
      const next = currentRoute();
      if (next !== undefined) this.open(next);
    });
  }

  #leave(): void {
    this.#stopPause?.();
    this.#stopPause = undefined;
    this.#openedAt = undefined;
    const subscription = this.#subscription;
    this.#subscription = undefined;
    subscription?.close();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function refusalOf(failure: unknown): unknown {
  const isUnknown = isRemoteConnectorError(failure, "peer_error") && failure.details.rpcCode === RpcCode.methodNotFound;
  return isUnknown ? noSubscriptions() : failure;
}

function noSubscriptions(): RemoteConnectorError<"unsupported"> {
  return new RemoteConnectorError("unsupported", {
    message: "The resource's server does not tell of its changes.",
    delivery: "answered",
    details: { feature: "resource subscriptions" },
  });
}

function ignore(): void {}
