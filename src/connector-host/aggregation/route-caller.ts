import { type Delivery, deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import type { DetailedResult, JsonObject, RequestOptions, WithDetail } from "../../protocol/index.js";
import { type RemoteMcpClient, takesQuickSignals } from "../factories/index.js";
import type { ForwardedRequest, UpstreamAnswer } from "../local-server/index.js";
import { type AdmissionPins, createAdmitter, type Route } from "../routes/index.js";
import { type Abortable, joinRevocation } from "./join-signals.js";
import type { AggregatedDirectoryOptions } from "./ports.js";
import { successorOf } from "./route-listings.js";

/** What every request over a route is told, whatever its method. */
export interface RouteRequestOptions extends RequestOptions, WithDetail {
  readonly totalTimeoutMs: number;
  readonly logLevel: string | undefined;
}

/** Makes the request with the client of a route. */
export type MakeRequest<T extends JsonObject> = (
  client: RemoteMcpClient,
  options: RouteRequestOptions,
) => Promise<DetailedResult<T>>;

/** A result, and the route that it came over. */
export interface RouteAnswer<T extends JsonObject = JsonObject> extends UpstreamAnswer {
  readonly result: T;
  readonly route: Route<RemoteMcpClient>;
}

/** Makes requests over routes, for agents. */
export class RouteCaller {
  readonly #options: Pick<AggregatedDirectoryOptions, "clock" | "reach" | "routes">;

  constructor(options: Pick<AggregatedDirectoryOptions, "clock" | "reach" | "routes">) {
    this.#options = options;
  }

  /**
   * Makes a request over a route or, if it was replaced, over its successor. One of which nothing was sent when its route was
   * replaced goes to the successor, once. It is not sent (`not_admitted`) when `pins` say that it was allowed by what holds no more.
   *
   * Rejects with what the client rejects with, and with `cancelled` (`route_withdrawn`), with its own verdict, when the route
   * was withdrawn meanwhile.
   */
  call<T extends JsonObject>(
    found: Route<RemoteMcpClient>,
    request: ForwardedRequest,
    make: MakeRequest<T>,
    pins?: AdmissionPins,
  ): Promise<RouteAnswer<T>> {
    const route = found.state === "open" ? found : (this.#currentOf(found) ?? found);
    return this.#callOver(route, request, make, pins, true);
  }

  async #callOver<T extends JsonObject>(
    route: Route<RemoteMcpClient>,
    request: ForwardedRequest,
    make: MakeRequest<T>,
    pins: AdmissionPins | undefined,
    isFirst: boolean,
  ): Promise<RouteAnswer<T>> {
    const { reach, routes, clock } = this.#options;
    const { meta, logLevel, onProgress, onNotification } = request;
    const leave = route.enter();
    const joined = joinRevocation(route, endOf(request, route.client));
    let answer: Promise<DetailedResult<T>> | undefined;
    let failure: unknown;
    try {
      answer = make(route.client, {
        detail: true,
        admit: createAdmitter(routes, route, pins),
        signal: joined.signal,
        totalTimeoutMs: Math.max(1, request.deadline - clock.now()),
        meta,
        logLevel,
        onProgress,
        onNotification,
      });
      const { result, raw } = await answer;
      const type = result["resultType"];
      const resultType = typeof type === "string" ? type : undefined;
      return { raw, era: route.client.era ?? "modern", resultType, result, route };
    } catch (error) {
      reach.onFailure(route, error);
      failure = error === route.signal.reason ? withdrawn(route.connectorKey, answer && deliveryOf(answer)) : error;
    } finally {
      joined.release();
      leave();
    }
    // Here and not in a function around this one: each would be another promise of every call.
    const successor = isFirst ? successorOf(route, routes) : undefined;
    const wasSent = !isRemoteConnectorError(failure) || failure.delivery !== "not_sent";
    if (successor === undefined || wasSent || request.signal.aborted) throw failure;
    return this.#callOver(successor, request, make, pins, false);
  }

  /** Not one of another epoch of the scope: that is another login, for which nobody asked. */
  #currentOf({ scope, scopeEpoch, connectorKey }: Route<RemoteMcpClient>): Route<RemoteMcpClient> | undefined {
    const route = this.#options.routes.current(connectorKey);
    return route?.scope === scope && route.scopeEpoch === scopeEpoch ? route : undefined;
  }
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
