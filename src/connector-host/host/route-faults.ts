import type { Observation, Snapshot } from "../../auth-projection/index.js";
import type { RouteToken, RunOutcome } from "../../reconcile/index.js";
import { misplacedDemand, readAuthorizationDemand } from "../activation/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Release } from "../release/index.js";
import type { Route, RouteTable } from "../routes/index.js";
import { type ConnectorCatalog, findRelease } from "../catalog/index.js";
import type { HostLogger } from "./host-logger.js";
import { observeDemand, type UsedConnection } from "./observe-demand.js";
import type { UnsettledFaults } from "./unsettled-faults.js";
import type { UnwrittenNews } from "./unwritten-news.js";

/** Where observations of the present login go. */
export interface ObservedAccount {
  readonly scopeEpoch: string;
  readonly sync: {
    observe(observation: Observation): Promise<boolean>;
    state(): { readonly fetching: boolean };
    wake(options: { readonly onceFor: string }): void;
  };
}

export interface RouteFaultsOptions {
  readonly catalog: ConnectorCatalog;
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly news: UnwrittenNews;
  readonly unsettled: UnsettledFaults;
  readonly logger: HostLogger;
  /** The account that is signed in. */
  readonly account: () => ObservedAccount | undefined;
  readonly controller: {
    revoke(token: RouteToken): void;
    report(token: RouteToken, outcome: RunOutcome): void;
  };
}

/** What follows for routes from failures that requests over them met, and from news that the store could not take in. */
export class RouteFaults {
  readonly #options: RouteFaultsOptions;
  /** Routes of which a fault was reported: they are made anew. */
  readonly #doubtful = new WeakSet<Route<RemoteMcpClient>>();

  constructor(options: RouteFaultsOptions) {
    this.#options = options;
  }

  /** Whether a fault of a published route was reported. */
  isDoubtful(route: Route<RemoteMcpClient>): boolean {
    return this.#doubtful.has(route);
  }

  /**
   * Whether nothing may run by this connection, whatever was planned: news that the store could not take in says so. What is being
   * activated is no route yet, and is asked about before it becomes one.
   */
  isDenied(scopeEpoch: string, used: UsedConnection): boolean {
    const release = this.#releaseOf(used);
    if (release === undefined || release.authorization.kind === "none") return false;
    const { connectorKey, connectionId, connectionVersion } = used;
    return this.#options.news.denies(scopeEpoch, {
      connectorKey,
      connectorVersion: release.version,
      connectionId,
      connectionVersion,
    });
  }

  /** A list or a call over a route failed. */
  onRequest(route: Route<RemoteMcpClient>, error: unknown): void {
    const release = this.#releaseOf(route);
    if (release?.authorization.kind === "none") this.#doubt(route, release, error);
    else void this.observe(route.scopeEpoch, route, error);
  }

  /**
   * A gateway that demands an authorization is believed until the snapshot was fetched anew: its route goes, at once and by
   * itself, also when the demand can't be written down. What a request of an earlier login met is not looked at. Never rejects.
   */
  async observe(scopeEpoch: string, used: UsedConnection, error: unknown): Promise<void> {
    const { account, logger, unsettled } = this.#options;
    const session = account();
    const release = this.#releaseOf(used);
    if (session?.scopeEpoch !== scopeEpoch || release === undefined) return;
    const observation = observeDemand(used, release, error);
    if (observation === undefined) return;
    const { connectorKey, state } = observation;
    const reason = state === "expired" ? "reauthorization_required" : "authorization_required";
    const settle = unsettled.demanded(connectorKey, reason);
    try {
      const counts = await session.sync.observe(observation);
      logger.info("A connector's gateway demands an authorization.", { connectorKey, state, counts });
    } catch (failure) {
      // Another login has news of its own.
      if (account()?.scopeEpoch !== scopeEpoch) return;
      this.#options.news.noteDemand(scopeEpoch, used, session.sync.state().fetching);
      this.#withdrawDenied(scopeEpoch);
      session.sync.wake({ onceFor: connectorKey });
      logger.warn("A demand for an authorization could not be written down.", { connectorKey, error: failure });
    } finally {
      settle();
    }
  }

  /** A snapshot that the store could not take in: what it does not grant goes all the same. */
  onUnapplied(scopeEpoch: string, snapshot: Snapshot): void {
    this.#options.news.noteSnapshot(scopeEpoch, snapshot);
    this.#withdrawDenied(scopeEpoch);
  }

  /**
   * A connector that needs no authorization, and whose gateway demands one, is at fault. Its route stays, since it may do other
   * work, until it is made anew, after a pause; what fails over it meanwhile is the same fault.
   */
  #doubt(route: Route<RemoteMcpClient>, release: Release, error: unknown): void {
    const { controller, logger, routes } = this.#options;
    if (readAuthorizationDemand(error) === undefined || this.#doubtful.has(route) || !routes.isCurrent(route)) return;
    this.#doubtful.add(route);
    const { connectorKey } = route;
    logger.warn("A connector that needs no authorization demands one.", { connectorKey, error });
    controller.report(tokenOf(route), { kind: "fault", error: misplacedDemand(release, error) });
  }

  /** `undefined` for a connector of the device, and for a release that is gone. */
  #releaseOf({ connectorKey, releaseDigest }: Pick<UsedConnection, "connectorKey" | "releaseDigest">) {
    const entry = this.#options.catalog.get(connectorKey);
    return entry?.kind === "release" ? findRelease(entry, releaseDigest)?.release : undefined;
  }

  #withdrawDenied(scopeEpoch: string): void {
    const { controller, routes } = this.#options;
    for (const route of routes.list()) {
      if (route.scopeEpoch === scopeEpoch && this.isDenied(scopeEpoch, route)) controller.revoke(tokenOf(route));
    }
  }
}

function tokenOf({ scope, connectorKey, generation, scopeEpoch }: Route<RemoteMcpClient>): RouteToken {
  return { scope, key: connectorKey, generation, epoch: scopeEpoch };
}
