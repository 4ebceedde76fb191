import type { SyncEvent } from "../../auth-projection/index.js";
import type { ConnectorStatus } from "./connector-status.js";
import type { HostLogger } from "./host-logger.js";
import type { RouteFaults } from "./route-faults.js";
import type { UnwrittenNews } from "./unwritten-news.js";

export interface SyncFollowerOptions {
  readonly scope: string;
  readonly scopeEpoch: string;
  readonly news: UnwrittenNews;
  readonly faults: RouteFaults;
  readonly logger: HostLogger;
  /** Has the whole scope looked at. */
  readonly wake: () => void;
  /** What every installed connector is at. */
  readonly statuses: () => Promise<readonly ConnectorStatus[]>;
  /** Asks for one more fetch, once for each connector and snapshot. */
  readonly refetch: (onceFor: string) => void;
}

/** What the host does about each fetch of one login's authorization. */
export class SyncFollower {
  readonly #options: SyncFollowerOptions;
  /** The last fetch failed. */
  #hasFailed = false;

  constructor(options: SyncFollowerOptions) {
    this.#options = options;
  }

  onEvent(event: SyncEvent): void {
    const { scope, scopeEpoch, news, faults, logger, wake, refetch } = this.#options;
    if (event.kind === "applied" || event.kind === "confirmed") {
      // After a failure too: what could not be written or published then is looked at anew.
      const hadNews = news.settle(event);
      if (news.isAhead) refetch("unwritten news");
      if (event.becameReady || this.#hasFailed || hadNews) wake();
      this.#hasFailed = false;
      this.#resyncMismatched().catch((error: unknown) => logger.warn("Connectors could not be looked at.", { error }));
    }
    if (event.kind === "failed" || event.kind === "held") news.endFetch();
    if (event.kind === "failed") {
      this.#hasFailed = true;
      const { unapplied, ...fields } = event;
      if (unapplied !== undefined) faults.onUnapplied(scopeEpoch, unapplied);
      logger.warn("The account's authorization could not be read.", { ...fields });
    } else {
      logger.debug("The account's authorization was read.", { ...event, scope });
    }
  }

  /** An authorization for another release may be one that the control plane is about to correct: it is asked once more. */
  async #resyncMismatched(): Promise<void> {
    const { statuses, refetch } = this.#options;
    for (const { connectorKey, reason } of await statuses()) {
      if (reason === "release_mismatch") refetch(`release_mismatch ${connectorKey}`);
    }
  }
}
