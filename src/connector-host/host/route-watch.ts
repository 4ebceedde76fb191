import type { FlowConvergence, RouteOutcome, WallClock } from "../../auth-projection/index.js";
import type { KeyStatus, ReconcileEvents } from "../../reconcile/index.js";
import type { RemoteMcpClient } from "../factories/index.js";
import type { Route } from "../routes/index.js";
import type { ConnectorStatus } from "./connector-status.js";
import type { PublicationFeed } from "./publication-feed.js";
import type { StatusReader } from "./status-reader.js";

/** What is known of one connector in its account's scope. */
export interface RouteFacts {
  /** `undefined` when it is not installed. */
  readonly status: ConnectorStatus | undefined;
  /** The route that readers see; `undefined` when there is none in the scope. */
  readonly route: PublishedRoute | undefined;
  /** Whether it was observed as it should be, and that is off. */
  readonly isOff: boolean;
}

/** A route that readers see. */
export interface PublishedRoute {
  readonly connectionId: string | undefined;
  /** It is what is desired now: no older version of its connection, and no older release. */
  readonly isDesired: boolean;
}

/** What is waited for, as far as it is known: `wait` while it can still come about. */
export type RouteVerdict = RouteOutcome & { readonly wait: boolean };

const UNKNOWN: RouteVerdict = { wait: true, reached: false, reason: undefined };
/** How often it is looked, should no news come. */
const LOOK_MS = 5_000;

export interface RouteWatchOptions {
  readonly clock: WallClock;
  /** Reads what is known of a connector now. */
  readonly read: (connectorKey: string) => Promise<RouteFacts>;
  /** Calls back whenever something about a connector of the scope may have changed. */
  readonly onNews: (connectorKey: string, callback: () => void) => () => void;
}

/** Whether the route for a connection is published, or never will be. Pure. */
export function judgePublished({ status, route }: RouteFacts, connectionId: string): RouteVerdict {
  if (route?.connectionId === connectionId && route.isDesired) {
    return { wait: false, reached: true, reason: undefined };
  }
  if (status === undefined) return { wait: false, reached: false, reason: "not_installed" };
  const { state, reason = state === "ready" ? "not_converged" : state } = status;
  // One that is published for another connection, or for an older version, is about to be replaced.
  const isFinal = state === "failed" || state === "disabled" || state === "not_installed";
  return { wait: !isFinal, reached: false, reason };
}

/** Whether a connector was observed disabled, its route gone. Pure. */
export function judgeWithdrawn({ status, route, isOff }: RouteFacts): RouteVerdict {
  const reached = route === undefined && (isOff || status === undefined);
  const reason = route === undefined ? "not_observed" : "still_published";
  return { wait: !reached, reached, reason: reached ? undefined : reason };
}

/** Waits for what flows wait for, by looking again at every news and once in a while. */
export class RouteWatch implements FlowConvergence {
  readonly #options: RouteWatchOptions;

  constructor(options: RouteWatchOptions) {
    this.#options = options;
  }

  published(connectorKey: string, connectionId: string, signal: AbortSignal): Promise<RouteOutcome> {
    return this.#until(connectorKey, signal, (facts) => judgePublished(facts, connectionId));
  }

  withdrawn(connectorKey: string, signal: AbortSignal): Promise<RouteOutcome> {
    return this.#until(connectorKey, signal, judgeWithdrawn);
  }

  async #until(
    connectorKey: string,
    signal: AbortSignal,
    judge: (facts: RouteFacts) => RouteVerdict,
  ): Promise<RouteOutcome> {
    const { clock, read, onNews } = this.#options;
    let isNew = false;
    let wake: (() => void) | undefined;
    const tell = (): void => {
      isNew = true;
      wake?.();
    };
    const endNews = onNews(connectorKey, tell);
    signal.addEventListener("abort", tell);
    try {
      for (;;) {
        isNew = false;
        // What can't be read now is looked at again, like what has not come about yet.
        const facts = await read(connectorKey).catch(() => undefined);
        const { wait, reached, reason } = facts === undefined ? UNKNOWN : judge(facts);
        if (!wait || signal.aborted) return { reached, reason };
        if (isNew) continue;
        await new Promise<void>((resolve) => {
          const cancel = clock.schedule(LOOK_MS, resolve);
          wake = () => {
            cancel();
            resolve();
          };
        });
      }
    } finally {
      endNews();
      signal.removeEventListener("abort", tell);
    }
  }
}

/** The parts of a host that know of routes. */
export interface WatchedParts {
  readonly scope: string;
  readonly clock: WallClock;
  readonly controller: {
    readonly events: ReconcileEvents;
    status(scope: string): Promise<readonly KeyStatus[]>;
  };
  readonly statuses: StatusReader;
  readonly routes: { current(connectorKey: string): Route<RemoteMcpClient> | undefined };
  readonly feed: PublicationFeed;
}

/** Watches the routes of one account's scope. */
export function watchRoutes({ scope, clock, controller, statuses, routes, feed }: WatchedParts): RouteWatch {
  return new RouteWatch({
    clock,
    async read(connectorKey) {
      const all = await statuses.all(scope);
      const convergence = (await controller.status(scope)).find(({ key }) => key === connectorKey);
      const route = routes.current(connectorKey);
      return {
        status: all.find((status) => status.connectorKey === connectorKey),
        route:
          route?.scope === scope
            ? { connectionId: route.connectionId, isDesired: route.generation === convergence?.generation }
            : undefined,
        isOff: convergence?.enabled === false && convergence.activity === "converged",
      };
    },
    onNews(connectorKey, callback) {
      const ends = [
        controller.events.subscribe((event) => {
          if ("key" in event && event.key === connectorKey && event.scope === scope) callback();
        }),
        feed.subscribe((event) => {
          if (event.connectorKey === connectorKey) callback();
        }),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
  });
}
