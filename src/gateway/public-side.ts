import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { RpcCode } from "../protocol/index.js";
import {
  checkLoopbackHost,
  type ExtraHeaders,
  type HeaderFields,
  type Refusal,
  refuse,
  sendEmpty,
  sendJson,
  sendRefusal,
} from "../serving/index.js";
import { isLoopback } from "../transport/index.js";
import type { AuthorizationChanges } from "./authorization-changes.js";
import {
  type Authorizer,
  invalidRequest,
  notFound,
  sendControlError,
  type SessionEndpoint,
} from "./authorizing/index.js";
import type { ConnectorEndpoint } from "./connector-endpoint.js";
import type { FaultBook, FaultPlace, FaultTarget } from "./faults.js";
import type { HintHub } from "./hint-hub.js";
import type { GatewayConfig } from "./options.js";
import { playFault, playUpgradeFault, refuseUpgrade } from "./play-fault.js";
import { type AccountRoute, readRoute, type Route, ROUTE_METHODS } from "./routes.js";
import type { Sessions } from "./sessions.js";
import { encodeSnapshot } from "./snapshot.js";

export interface PublicSideParts {
  readonly config: GatewayConfig;
  readonly sessions: Sessions;
  readonly endpoint: ConnectorEndpoint;
  readonly sessionEndpoint: SessionEndpoint;
  readonly authorizer: Authorizer;
  readonly changes: AuthorizationChanges;
  readonly hints: HintHub;
  readonly faults: FaultBook;
}

/** What `malformed_snapshot` says when it says nothing else. */
const MALFORMED_SNAPSHOT = '{"revision":"1","connectors":[';

/** What callers with a session reach: connectors, the snapshot, hints, and authorization sessions. */
export class PublicSide {
  readonly #parts: PublicSideParts;

  constructor(parts: PublicSideParts) {
    this.#parts = parts;
  }

  /** Answers one request. Who the caller is, is settled before anything of its body is read. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { config, faults, sessionEndpoint, sessions } = this.#parts;
    const { headers, method = "", url = "" } = request;
    const route = readRoute(url);
    const place = placeOf(route);
    const accountId = sessions.accountOf(headers);
    const target = this.#targetOf(route, accountId);
    const portal = faults.takePortal(place, target);
    if (portal !== undefined) return void (await playFault(portal, response, config.clock));

    if (route.kind === "unknown") return refuseRequest(route, response, 404, "Not found");
    const methods = ROUTE_METHODS[route.kind];
    if (!methods.includes(method)) {
      const allow = methods.join(", ");
      return refuseRequest(route, response, 405, `Only ${allow} is allowed`, { Allow: allow });
    }
    if (!isAllowedOrigin(headers, config)) return refuseRequest(route, response, 403, "The origin is not allowed");
    if (route.kind === "callback") {
      if (await this.#meetFault(place, target, response)) return undefined;
      return sessionEndpoint.arrive(route.connectorId, url, accountId, response);
    }
    if (accountId === undefined) {
      const challenge = `Cookie realm="gateway", cookie-name="${config.sessionCookie}"`;
      return refuseRequest(route, response, 401, "There is no session", { "WWW-Authenticate": challenge });
    }
    const isKnown = !("connectorId" in route) || config.connectors.has(route.connectorId);
    if (isKnown && (await this.#meetFault(place, target, response))) return undefined;
    return this.#answerAccount(accountId, route, request, response);
  }

  /** Takes over a connection for hints, or refuses it with a status. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { config, faults, hints, sessions } = this.#parts;
    const route = readRoute(request.url);
    const accountId = sessions.accountOf(request.headers);
    const target = { accountId };
    const place = placeOf(route);
    const portal = faults.takePortal(place, target);
    if (portal !== undefined) return playUpgradeFault(portal, socket, config.clock, () => undefined);
    if (route.kind !== "events") return refuseUpgrade(socket, 404);
    if (!isAllowedOrigin(request.headers, config)) return refuseUpgrade(socket, 403);
    if (accountId === undefined) return refuseUpgrade(socket, 401);
    const accept = (): void => hints.accept(accountId, request, socket, head);
    const fault = faults.takeRequest(place, target);
    return fault === undefined ? accept() : playUpgradeFault(fault, socket, config.clock, accept);
  }

  async #answerAccount(
    accountId: string,
    route: AccountRoute,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { config, endpoint, sessionEndpoint } = this.#parts;
    switch (route.kind) {
      case "events": {
        const headers = { Connection: "Upgrade", Upgrade: "websocket" };
        return refuseRequest(route, response, 426, "Only a WebSocket is served here", headers);
      }
      case "snapshot":
        return this.#snapshot(accountId, response);
      case "session":
        return request.method === "DELETE"
          ? sessionEndpoint.cancel(accountId, route.sessionId, response)
          : sessionEndpoint.read(accountId, route.sessionId, response);
      case "complete_session":
        return sessionEndpoint.complete(accountId, route.sessionId, request, response);
      case "connector": {
        const connector = config.connectors.get(route.connectorId);
        if (connector === undefined) return sendRefusal(response, unknownConnector(route.connectorId));
        return endpoint.answer(accountId, connector, request, response);
      }
      case "begin_session": {
        const connector = config.connectors.get(route.connectorId);
        if (connector === undefined) return sendControlError(response, notFound("connector"));
        return sessionEndpoint.begin(accountId, connector, request, response);
      }
      case "disconnect":
        return this.#disconnect(accountId, route.connectorId, response);
    }
  }

  async #snapshot(accountId: string, response: ServerResponse): Promise<void> {
    const { config, faults } = this.#parts;
    const fault = faults.takeSnapshot({ accountId });
    if (fault?.kind === "malformed_snapshot") return sendJson(response, 200, fault.body ?? MALFORMED_SNAPSHOT);
    const now = await config.state.read(accountId);
    const back = fault === undefined ? 0n : BigInt(fault.revisionsBack ?? 1);
    const told = back === 0n ? now : ((await config.state.readAt(accountId, now.revision - back)) ?? now);
    return sendJson(response, 200, encodeSnapshot(told, config.connectors.values()));
  }

  /** Whether a fault answered the request, or ended it. */
  async #meetFault(place: FaultPlace, target: FaultTarget, response: ServerResponse): Promise<boolean> {
    const fault = this.#parts.faults.takeRequest(place, target);
    return fault !== undefined && (await playFault(fault, response, this.#parts.config.clock));
  }

  /** Ends what is under way as well: no connection comes of it afterwards. */
  async #disconnect(accountId: string, connectorId: string, response: ServerResponse): Promise<void> {
    if (!this.#parts.config.connectors.has(connectorId)) return sendControlError(response, notFound("connector"));
    await this.#parts.authorizer.cancelActive(accountId, connectorId);
    await this.#parts.changes.change(accountId, connectorId, { kind: "revoke" });
    return sendEmpty(response, 204);
  }

  /** Whose request it is, and what it is about, as far as that can be known before it is read. */
  #targetOf(route: Route, accountId: string | undefined): FaultTarget {
    if ("connectorId" in route) return { accountId, connectorId: route.connectorId };
    if (!("sessionId" in route) || accountId === undefined) return { accountId };
    const found = this.#parts.authorizer.find(accountId, route.sessionId);
    return { accountId, connectorId: "connectorId" in found ? found.connectorId : undefined };
  }
}

const PLACES: Readonly<Record<Route["kind"], FaultPlace>> = {
  begin_session: "sessions",
  callback: "callback",
  complete_session: "sessions",
  connector: "connector",
  disconnect: "sessions",
  events: "hints",
  session: "sessions",
  snapshot: "snapshot",
  unknown: "any",
};

function placeOf({ kind }: Route): FaultPlace {
  return PLACES[kind];
}

/** Refuses in the words of the plane that the path belongs to. */
function refuseRequest(
  route: Route,
  response: ServerResponse,
  status: number,
  message: string,
  headers: ExtraHeaders = {},
): void {
  const place = placeOf(route);
  if (place === "sessions" || place === "callback") {
    return sendControlError(response, invalidRequest(message, status), headers);
  }
  return sendRefusal(response, refuse(status, undefined, RpcCode.invalidRequest, message), headers);
}

/** Not of this contract's codes for errors: a host that installed it keeps it, and shows it as not available. */
function unknownConnector(connectorId: string): Refusal {
  const data = { reason: "unknown_connector", connectorId: connectorId.slice(0, 128) };
  return refuse(404, undefined, RpcCode.connectorUnavailable, "There is no such connector", data);
}

/** On loopback a foreign `Host` is refused too, but a proxy's: it is how a rebound name shows. */
function isAllowedOrigin(headers: HeaderFields, config: GatewayConfig): boolean {
  const { origin } = headers;
  return isLoopback(config.host.includes(":") ? `[${config.host}]` : config.host)
    ? checkLoopbackHost(headers, config.allowedOrigins, config.allowedHosts).kind === "allowed"
    : origin === undefined || (typeof origin === "string" && config.allowedOrigins.includes(origin));
}
