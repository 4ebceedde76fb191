import type { Login, LoginGuard, Readiness } from "../../auth-projection/index.js";
import type { Controller } from "../../reconcile/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { RouteTable } from "../routes/index.js";
import { accountScope } from "./account-scope.js";
import { AccountSession } from "./account-session.js";
import type { ConnectorHostConfig } from "./host-options.js";
import type { HostStore, HostTx } from "./host-store.js";
import type { ConnectorFacts } from "./plan-connector.js";
import type { PublicationFeed } from "./publication-feed.js";
import type { RouteFaults } from "./route-faults.js";
import { watchRoutes } from "./route-watch.js";
import type { StatusFollower } from "./follow-status.js";
import type { StatusReader } from "./status-reader.js";
import { SyncFollower } from "./sync-follower.js";
import type { UnwrittenNews } from "./unwritten-news.js";

/** The parts of a host that the session of a login works with. */
export interface SessionParts {
  readonly config: ConnectorHostConfig;
  readonly store: HostStore;
  readonly logins: LoginGuard;
  readonly readiness: Readiness;
  readonly news: UnwrittenNews;
  readonly faults: RouteFaults;
  readonly controller: Controller<HostTx, ConnectorFacts>;
  readonly statuses: StatusReader;
  readonly status: StatusFollower;
  readonly routes: RouteTable<RemoteMcpClient>;
  readonly feed: PublicationFeed;
}

/** Begins to follow the authorization of a login whose scope has just begun this epoch. Throws as {@link AccountSession} does. */
export function startSession(parts: SessionParts, login: Login, scopeEpoch: string): AccountSession {
  const { config, store, logins, readiness, news, faults, controller, status, statuses, routes, feed } = parts;
  const scope = accountScope(login.accountId);
  const follower = new SyncFollower({
    scope,
    scopeEpoch,
    news,
    faults,
    logger: config.logger,
    wake: () => controller.wake(scope),
    statuses: () => statuses.all(scope),
    // One that is over wakes nobody.
    refetch: (onceFor) => session.sync.wake({ onceFor }),
  });
  const session = new AccountSession({
    config,
    store,
    logins,
    login,
    readiness,
    scope,
    scopeEpoch,
    onChanged: (tx, keys) => controller.planInTx(tx, scope, keys),
    onEvent(event) {
      follower.onEvent(event);
      status.onAccount();
    },
    convergence: watchRoutes({ scope, clock: config.wallClock, controller, statuses, routes, feed }),
  });
  return session;
}
