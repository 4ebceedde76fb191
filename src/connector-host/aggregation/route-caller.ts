import { type Delivery, deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import type { DetailedResult, JsonObject, RequestOptions, WithDetail } from "../../protocol/index.js";
import type { McpCallOptions } from "../../connect/index.js";
import { type RemoteMcpClient, takesQuickSignals } from "../factories/index.js";
import type { ForwardedRequest, UpstreamAnswer } from "../local-server/index.js";
import { type AdmissionPins, createAdmitter, type Route } from "../routes/index.js";
import { type Abortable, joinRevocation } from "./join-signals.js";
import type { AggregatedDirectoryOptions, CallSubject, JournaledCall, JournalEnd } from "./ports.js";
import { successorOf } from "./route-listings.js";

/** What every request over a route is told, whatever its method. */
export interface RouteRequestOptions
  extends
    RequestOptions,
    WithDetail,
    Pick<McpCallOptions, "capabilities" | "input" | "inputResponses" | "repeats" | "requestState"> {
  readonly totalTimeoutMs: number;
  readonly logLevel: string | undefined;
}

/** Makes the request with the client of a route. */
export type MakeRequest<T extends JsonObject> = (
  client: RemoteMcpClient,
  options: RouteRequestOptions,
) => Promise<DetailedResult<T>>;

/** A request that goes over a route. */
export interface RoutedRequest<T extends JsonObject> {
  readonly route: Route<RemoteMcpClient>;
  readonly request: ForwardedRequest;
  readonly subject: CallSubject;
  readonly make: MakeRequest<T>;
  /** What it was allowed by. */
  readonly pins?: AdmissionPins | undefined;
  /** How its server may ask for input in the midst of it. Left out: nobody answers. */
  readonly asking?: Pick<RouteRequestOptions, "capabilities" | "input" | "inputResponses" | "requestState"> | undefined;
  /** Whether it waits for an agent now: a superseded route does not end it then. */
  readonly isHeld?: (() => boolean) | undefined;
  /** Digest of the settings that it goes on with something under: over a route of others it is not made. Left out: it begins something. */
  readonly settings?: string | undefined;
  /** `never`: not even a request of which nothing was sent goes to the successor of its route. */
  readonly repeats?: "never" | undefined;
}

/** A result, and the route that it came over. */
export interface RouteAnswer<T extends JsonObject = JsonObject> extends UpstreamAnswer {
  readonly result: T;
  readonly route: Route<RemoteMcpClient>;
}

type RouteCallerOptions = Pick<AggregatedDirectoryOptions, "clock" | "journal" | "reach" | "routes">;

/** Makes requests over routes, for agents. */
export class RouteCaller {
  readonly #options: RouteCallerOptions;

  constructor(options: RouteCallerOptions) {
    this.#options = options;
  }

  /**
   * Makes a request over a route or, if it was replaced, over its successor. One of which nothing was sent when its route was
   * replaced goes to the successor, once. It is not sent (`not_admitted`) when its pins say that it was allowed by what holds no more,
   * nor (`journal_unavailable`) before it was written down where requests are.
   *
   * Rejects with what the client rejects with, and with `cancelled` (`route_withdrawn`), with its own verdict, when the route
   * was withdrawn meanwhile.
   */
  call<T extends JsonObject>(routed: RoutedRequest<T>): Promise<RouteAnswer<T>> {
    const { route: found } = routed;
    const current = found.state === "open" ? found : this.#currentOf(found);
    const route = current !== undefined && mayTake(routed, current) ? current : found;
    return this.#callOver(route, routed, routed.repeats !== "never");
  }

  async #callOver<T extends JsonObject>(
    route: Route<RemoteMcpClient>,
    routed: RoutedRequest<T>,
    isFirst: boolean,
  ): Promise<RouteAnswer<T>> {
    const { journal, reach, routes, clock } = this.#options;
    const { asking, isHeld, make, pins, request, subject } = routed;
    const { meta, logLevel, onProgress, onNotification } = request;
    const leave = route.enter();
    const joined = joinRevocation(route, endOf(request, route.client), isHeld);
    let answer: Promise<DetailedResult<T>> | undefined;
    let journaled: JournaledCall | undefined;
    let failure: unknown;
    try {
      if (journal !== undefined) {
        const { connectorKey, scope, generation } = route;
        journaled = await journal.begin({ subject, connectorKey, scope, generation });
      }
      const admit = createAdmitter(routes, route, pins);
      answer = make(route.client, {
        detail: true,
        admit: journaled === undefined ? admit : () => admit() ?? journaled?.admit(),
        signal: joined.signal,
        totalTimeoutMs: Math.max(1, request.deadline - clock.now()),
        meta,
        logLevel,
        onProgress,
        onNotification,
        capabilities: asking?.capabilities,
        input: asking?.input,
        inputResponses: asking?.inputResponses,
        requestState: asking?.requestState,
      });
      const { result, raw } = await answer;
      const type = result["resultType"];
      const resultType = typeof type === "string" ? type : undefined;
      journaled?.end({ kind: "result", raw, resultType, isError: result["isError"] === true });
      return { raw, era: route.client.era ?? "modern", resultType, result, route };
    } catch (error) {
      reach.onFailure(route, error);
      const isWithdrawn = route.isEnd(error);
      failure = isWithdrawn
        ? withdrawn(route.connectorKey, answer === undefined ? "not_sent" : deliveryOf(answer))
        : error;
      journaled?.end(failedEnd(failure, answer));
    } finally {
      joined.release();
      leave();
    }
    // Here and not in a function around this one: each would be another promise of every call.
    const successor = isFirst ? successorOf(route, routes) : undefined;
    const wasSent = !isRemoteConnectorError(failure) || failure.delivery !== "not_sent";
    if (successor === undefined || wasSent || request.signal.aborted || !mayTake(routed, successor)) throw failure;
    return this.#callOver(successor, routed, false);
  }

  /** Not one of another epoch of the scope: that is another login, for which nobody asked. */
  #currentOf({ scope, scopeEpoch, connectorKey }: Route<RemoteMcpClient>): Route<RemoteMcpClient> | undefined {
    const route = this.#options.routes.current(connectorKey);
    return route?.scope === scope && route.scopeEpoch === scopeEpoch ? route : undefined;
  }
}

function mayTake({ settings }: RoutedRequest<JsonObject>, { releaseDigest }: Route<RemoteMcpClient>): boolean {
  return settings === undefined || settings === releaseDigest;
}

/** `answer` is the call, if it was begun. */
function failedEnd(error: unknown, answer: Promise<unknown> | undefined): JournalEnd {
  const isOurs = isRemoteConnectorError(error);
  const known = answer === undefined ? "not_sent" : deliveryOf(answer);
  return {
    kind: "failure",
    delivery: known ?? (isOurs ? error.delivery : "unknown"),
    code: isOurs ? error.code : undefined,
  };
}

/** What ends a request, in the form that costs least of those that the client takes. */
function endOf(request: ForwardedRequest, client: RemoteMcpClient): Abortable {
  const { quickSignal, abort } = request;
  return quickSignal !== undefined && takesQuickSignals(client) ? { signal: quickSignal, abort } : request;
}

/** One reason ends all calls of a route; how far this one got, only its own promise tells. */
function withdrawn(connectorKey: string, delivery: Delivery | undefined): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: `The route of ${connectorKey} was withdrawn during the call.`,
    delivery: delivery ?? "unknown",
    details: { reason: "route_withdrawn" },
  });
}
