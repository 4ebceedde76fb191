import type { ReconcileEvent, ReconcileEvents } from "../../reconcile/index.js";
import { type ConnectorCatalog, scopeKindOf } from "../catalog/index.js";
import { DEVICE_SCOPE, kindOfScope } from "./account-scope.js";
import type { ConnectorStatus } from "./connector-status.js";
import type { HostLogger } from "./host-logger.js";
import type { ListOmissions } from "./list-omissions.js";
import { type Obstacle, readObstacle } from "./plan-connector.js";
import { presumeStatus } from "./presume-status.js";
import type { PublicationFeed } from "./publication-feed.js";
import { StatusFeed } from "./status-feed.js";
import { StatusLog } from "./status-log.js";
import type { StatusReader } from "./status-reader.js";
import type { UnsettledFaults } from "./unsettled-faults.js";

/** The parts of a host that know what connectors are at. */
export interface StatusParts {
  readonly catalog: ConnectorCatalog;
  readonly events: ReconcileEvents;
  readonly routes: { current(connectorKey: string): { readonly scope: string } | undefined };
  readonly publications: PublicationFeed;
  readonly omissions: ListOmissions;
  readonly unsettled: UnsettledFaults;
  readonly statuses: StatusReader;
  /** The scope of the account that is signed in. */
  readonly accountScope: () => string | undefined;
  readonly clock: { now(): number; schedule(delayMs: number, run: () => void): () => void };
  readonly logger: HostLogger;
}

/** Tells of what connectors are at, by what all parts of a host say of them. */
export class StatusFollower {
  readonly feed: StatusFeed;
  readonly #parts: StatusParts;
  /** What stands in the way of connectors by their last plans, as far as those were made here. */
  readonly #planned = new Map<string, Obstacle>();
  #isClosing = false;

  constructor(parts: StatusParts) {
    const { catalog, events, publications, omissions, statuses, accountScope, clock, logger } = parts;
    this.#parts = parts;
    this.feed = new StatusFeed({
      now: () => clock.now(),
      schedule: (delayMs, run) => clock.schedule(delayMs, run),
      presume: (key) => this.#presume(key),
      read: (keys) => statuses.of(keys, accountScope()),
      onListenerFailure: (error) => logger.error("A status listener threw.", { error }),
      onTrouble: (error) => logger.warn("What connectors are at could not be read.", { error }),
    });
    const log = new StatusLog(logger);
    this.feed.subscribe((change) => log.note(change));
    this.feed.begin(catalog.keys.flatMap((key) => this.#presume(key) ?? []));
    events.subscribe((event) => this.#onEvent(event));
    publications.subscribe(({ kind, connectorKey }) => {
      if (kind === "withdrawn") this.feed.presume([connectorKey]);
      else this.feed.hint([connectorKey]);
    });
    catalog.onChange((key) => this.feed.hint([key]));
    omissions.onChange = (key) => this.feed.hint([key]);
  }

  /** What was learnt of a connector before the store knows has changed. */
  onUnsettled(connectorKey: string): void {
    if (this.#parts.unsettled.of(connectorKey) === undefined) this.feed.hint([connectorKey]);
    else this.feed.presume([connectorKey]);
  }

  /** What is known of the account's authorization may have changed. */
  onAccount(): void {
    this.feed.hint(this.#parts.catalog.keysIn("account"));
  }

  /** The host is closing: what is withdrawn from now on does not come back. */
  beginClosing(): void {
    this.#isClosing = true;
  }

  #onEvent(event: ReconcileEvent): void {
    const { catalog, unsettled } = this.#parts;
    switch (event.kind) {
      case "scope_activated":
        return this.feed.hint(catalog.keysIn(kindOfScope(event.scope)));
      case "scope_shut": {
        const keys = catalog.keysIn(kindOfScope(event.scope));
        for (const key of keys) this.#planned.delete(key);
        unsettled.clear(keys);
        return this.feed.presume(keys);
      }
      case "listener_dropped":
        return;
      case "trouble":
        if (event.key !== undefined) this.feed.hint([event.key]);
        return;
      case "planned":
        return this.#onPlanned(event.key, event.enabled ? undefined : readObstacle(event.identity));
      case "fenced":
        // What it was fenced for could not be written: of an account that is news that the rows don't have.
        if (!event.committed && event.scope !== DEVICE_SCOPE) this.#planned.set(event.key, "account_not_ready");
        return this.feed.hint([event.key]);
      case "superseded":
      case "abandoned":
      case "requeued":
      case "starting":
        return this.feed.hint([event.key]);
      case "removed":
        this.#planned.delete(event.key);
        return this.#onWritten(event.key);
      case "run_started":
      case "observed":
      case "terminal":
      case "failed":
      case "lost":
        return this.#onWritten(event.key);
    }
  }

  #onPlanned(key: string, obstacle: Obstacle | undefined): void {
    if (obstacle === undefined) this.#planned.delete(key);
    else this.#planned.set(key, obstacle);
    this.#parts.unsettled.settleLoss(key);
    if (obstacle === undefined) this.feed.hint([key]);
    else this.feed.presume([key]);
  }

  #onWritten(key: string): void {
    this.#parts.unsettled.settleLoss(key);
    this.feed.hint([key]);
  }

  #presume(connectorKey: string): ConnectorStatus | undefined {
    const { catalog, routes, unsettled, accountScope, clock } = this.#parts;
    const entry = catalog.get(connectorKey);
    const scope = entry === undefined || scopeKindOf(entry) === "device" ? DEVICE_SCOPE : accountScope();
    return presumeStatus({
      connectorKey,
      entry,
      isPublished: scope !== undefined && routes.current(connectorKey)?.scope === scope,
      isSignedIn: accountScope() !== undefined,
      planned: this.#planned.get(connectorKey),
      unsettled: unsettled.of(connectorKey),
      isClosing: this.#isClosing,
      now: clock.now(),
    });
  }
}
