import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { RpcCode } from "../protocol/index.js";
import {
  checkLoopbackHost,
  type HeaderFields,
  type Refusal,
  refuse,
  sendEmpty,
  sendJson,
  sendRefusal,
} from "../serving/index.js";
import { isLoopback } from "../transport/index.js";
import type { ConnectorEndpoint } from "./connector-endpoint.js";
import type { FaultBook } from "./faults.js";
import type { HintHub } from "./hint-hub.js";
import type { GatewayConfig, GatewayConnector } from "./options.js";
import { readRoute } from "./routes.js";
import type { Sessions } from "./sessions.js";
import { encodeSnapshot } from "./snapshot.js";

export interface PublicSideParts {
  readonly config: GatewayConfig;
  readonly sessions: Sessions;
  readonly endpoint: ConnectorEndpoint;
  readonly hints: HintHub;
  readonly faults: FaultBook;
}

/** What callers with a session reach: connectors, the snapshot, and hints. */
export class PublicSide {
  readonly #parts: PublicSideParts;

  constructor(parts: PublicSideParts) {
    this.#parts = parts;
  }

  /** Answers one request. Who the caller is, is settled before anything of its body is read. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { config, endpoint, sessions } = this.#parts;
    const route = readRoute(request.url);
    if (route.kind === "unknown")
      return sendRefusal(response, refuse(404, undefined, RpcCode.invalidRequest, "Not found"));
    if (request.method !== route.method) {
      const refusal = refuse(405, undefined, RpcCode.invalidRequest, `Only ${route.method} is allowed`);
      return sendRefusal(response, refusal, { Allow: route.method });
    }
    const foreign = checkOrigin(request.headers, config);
    if (foreign !== undefined) return sendRefusal(response, foreign);
    const accountId = sessions.accountOf(request.headers);
    if (accountId === undefined) {
      const challenge = `Cookie realm="gateway", cookie-name="${config.sessionCookie}"`;
      const refusal = refuse(401, undefined, RpcCode.invalidRequest, "There is no session");
      return sendRefusal(response, refusal, { "WWW-Authenticate": challenge });
    }
    if (route.kind === "events") {
      const refusal = refuse(426, undefined, RpcCode.invalidRequest, "Only a WebSocket is served here");
      return sendRefusal(response, refusal, { Connection: "Upgrade", Upgrade: "websocket" });
    }
    if (route.kind === "snapshot") {
      const account = await config.state.read(accountId);
      return sendJson(response, 200, encodeSnapshot(config.state.epoch, account, config.connectors.values()));
    }
    const connector = config.connectors.get(route.connectorId);
    if (connector === undefined) return sendRefusal(response, unknownConnector(route.connectorId));
    if (await this.#meetFault(connector, response)) return undefined;
    return endpoint.answer(accountId, connector, request, response);
  }

  /** Takes over a connection for hints, or refuses it with a status. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { config, hints, sessions } = this.#parts;
    const route = readRoute(request.url);
    const accountId = sessions.accountOf(request.headers);
    if (route.kind !== "events") refuseUpgrade(socket, 404);
    else if (checkOrigin(request.headers, config) !== undefined) refuseUpgrade(socket, 403);
    else if (accountId === undefined) refuseUpgrade(socket, 401);
    else hints.accept(accountId, request, socket, head);
  }

  /** Whether a fault answered the request, or ended it. */
  async #meetFault(connector: GatewayConnector, response: ServerResponse): Promise<boolean> {
    const fault = this.#parts.faults.take(connector.connectorId);
    if (fault === undefined) return false;
    if (fault.kind === "delay") {
      await this.#delay(fault.ms, response);
      return response.destroyed;
    }
    if (fault.kind === "status") sendEmpty(response, fault.status);
    else response.destroy();
    return true;
  }

  /** Waits, or stops waiting when the caller leaves. */
  #delay(ms: number, response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.config.clock.schedule(ms, resolve);
      response.once("close", () => {
        cancel();
        resolve();
      });
    });
  }
}

/** Not of this contract's codes for errors: a host that installed it keeps it, and shows it as not available. */
function unknownConnector(connectorId: string): Refusal {
  const data = { reason: "unknown_connector", connectorId: connectorId.slice(0, 128) };
  return refuse(404, undefined, RpcCode.connectorUnavailable, "There is no such connector", data);
}

/** On loopback a foreign `Host` is refused too: it is how a rebound name shows. */
function checkOrigin(headers: HeaderFields, config: GatewayConfig): Refusal | undefined {
  const { origin } = headers;
  const isAllowed = isLoopback(config.host.includes(":") ? `[${config.host}]` : config.host)
    ? checkLoopbackHost(headers, config.allowedOrigins).kind === "allowed"
    : origin === undefined || (typeof origin === "string" && config.allowedOrigins.includes(origin));
  return isAllowed ? undefined : refuse(403, undefined, RpcCode.invalidRequest, "The origin is not allowed");
}

function refuseUpgrade(socket: Duplex, status: number): void {
  const reason = STATUS_CODES[status] ?? "";
  socket.end(`HTTP/1.1 ${String(status)} ${reason}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
