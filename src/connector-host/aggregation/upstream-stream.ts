import type { Clock } from "../../transport/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { ListKind } from "../local-server/index.js";
import { changedList, type ListFilter } from "./declared-lists.js";

export interface UpstreamStreamOptions {
  readonly client: RemoteMcpClient;
  readonly filter: ListFilter;
  readonly clock: Clock;
  readonly random: () => number;
  /** The server listens to us, for the first time or again: what was listed before may be old. */
  readonly onOpen: () => void;
  readonly onChanged: (kind: ListKind) => void;
  /** It ended for good by itself. */
  readonly onGone: () => void;
}

type Subscription = ReturnType<RemoteMcpClient["listen"]>;
type End = Awaited<Subscription["closed"]>;

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * One subscription to a server's lists, opened again with growing pauses whenever it ends, until it is closed or the server has none.
 * Of the clients, only the modern one keeps a subscription open by itself: here both eras are alike.
 */
export class UpstreamStream {
  readonly #options: UpstreamStreamOptions;
  readonly #ending = new AbortController();
  #acknowledged: ListFilter | undefined;
  #stopPause: (() => void) | undefined;
  #failures = 0;

  /** Begins at once. What a client throws for a filter is thrown here. */
  constructor(options: UpstreamStreamOptions) {
    this.#options = options;
    this.#begin();
  }

  /** What the server promised to tell of; `undefined` while nothing is open. */
  get acknowledged(): ListFilter | undefined {
    return this.#acknowledged;
  }

  /** Ends it. Idempotent. */
  close(): void {
    this.#acknowledged = undefined;
    this.#stopPause?.();
    this.#ending.abort();
  }

  #begin(): void {
    const { client, filter } = this.#options;
    void this.#follow(client.listen(filter, { signal: this.#ending.signal }));
  }

  async #follow(subscription: Subscription): Promise<void> {
    const { clock, random, onOpen, onChanged, onGone } = this.#options;
    const { signal } = this.#ending;
    let openedAt: number | undefined;
    subscription.acknowledged.then(
      (acknowledged) => {
        if (signal.aborted) return;
        openedAt = clock.now();
        this.#acknowledged = acknowledged;
        onOpen();
      },
      () => undefined,
    );
    try {
      for await (const { method } of subscription) {
        const kind = changedList(method);
        if (kind !== undefined && !signal.aborted) onChanged(kind);
      }
    } catch {
      // How it ended is read below.
    }
    const end = await subscription.closed;
    this.#acknowledged = undefined;
    if (signal.aborted) return;
    if (isForGood(end)) {
      onGone();
      return;
    }
    const wasStable = openedAt !== undefined && clock.now() - openedAt >= LONGEST_PAUSE_MS;
    this.#failures = wasStable ? 1 : this.#failures + 1;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures - 1, 10));
    this.#stopPause = clock.schedule(Math.ceil((pauseMs * (1 + random())) / 2), () => this.#begin());
  }
}

/** The client or the session is gone, or the server knows no subscriptions: another route may, later. */
function isForGood(end: End): boolean {
  return end.kind === "cancelled" || (end.kind === "refused" && end.why !== "other");
}
