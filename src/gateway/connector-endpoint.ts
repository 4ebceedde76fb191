import type { IncomingMessage, ServerResponse } from "node:http";
import { isRemoteConnectorError } from "../errors.js";
import { MetaKey, MODERN_REVISIONS, RpcCode } from "../protocol/index.js";
import {
  classifyModernRequest,
  type ModernCall,
  readBody,
  type Refusal,
  refuse,
  refuseMethod,
  sendEmpty,
  sendRefusal,
} from "../serving/index.js";
import { checkAuthorization } from "./authorization-refusal.js";
import { CallAnswer } from "./call-answer.js";
import { forwardedMeta, UPSTREAM_METHODS } from "./connector-methods.js";
import { type CredentialCare, type CredentialTrouble, isUnauthorized } from "./credential-care.js";
import type { GatewayConfig, GatewayConnector } from "./options.js";
import { checkReleasePin } from "./release-pin.js";
import { classifyUpstreamFailure } from "./upstream-failure.js";
import { capabilitiesOf, isOffered, offersOf } from "./offers.js";
import type { Upstream } from "./upstream.js";
import type { UpstreamPool } from "./upstream-pool.js";

/** How long a caller may keep what `server/discover` told it. */
const DISCOVER_TTL_MS = 300_000;

/**
 * Answers the MCP requests that callers with a session send to a connector.
 *
 * In this order: body, request and headers, version pin, method, authorization, upstream. The first fault decides, and
 * nothing reaches the upstream before all that comes earlier has passed.
 */
export class ConnectorEndpoint {
  readonly #config: GatewayConfig;
  readonly #pool: UpstreamPool;
  readonly #care: CredentialCare;
  /** By connector, made when it is first asked for. */
  readonly #discoverResults = new Map<string, Uint8Array>();

  constructor(config: GatewayConfig, pool: UpstreamPool, care: CredentialCare) {
    this.#config = config;
    this.#pool = pool;
    this.#care = care;
  }

  /** Answers one POST. Settles when the answer was handed over, or the caller is gone. */
  async answer(
    accountId: string,
    connector: GatewayConnector,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const reading = await readBody(request, { maxBytes: this.#config.maxBodyBytes });
    if (reading.kind === "aborted") return;
    if (reading.kind === "too_large") {
      const message = `The body has more than ${String(reading.limit)} bytes`;
      sendRefusal(response, refuse(413, undefined, RpcCode.invalidRequest, message), { Connection: "close" });
      return;
    }
    const { headers } = request;
    const verdict = classifyModernRequest(headers, reading.body, MODERN_REVISIONS);
    if (verdict.kind === "refused") return sendRefusal(response, verdict);
    // The revision has no notification over HTTP that could concern a gateway: taken, and without effect.
    if (verdict.kind === "notification") return sendEmpty(response, 202);
    const ticket = this.#pool.ticket(accountId, connector);
    const refusal =
      checkReleasePin(headers, verdict, this.#config, connector.connectorVersion) ??
      (knows(connector, verdict.method) ? undefined : refuseMethod(verdict.id, verdict.method)) ??
      (await this.#checkAuthorization(accountId, connector, verdict));
    if (refusal !== undefined) return sendRefusal(response, refusal);

    const { clock, keepAliveMs, maxBufferedBytes } = this.#config;
    const answer = new CallAnswer(response, verdict.id, { clock, keepAliveMs, maxBufferedBytes });
    const method = UPSTREAM_METHODS.get(verdict.method);
    if (method === undefined) return answer.succeed(this.#discoverResult(connector));
    const meta = forwardedMeta(verdict.meta.members, this.#config.versionMetaKey);
    const accepted = { call: verdict, headers, body: reading.body, answer, meta, offers: offersOf(connector) };
    let upstream: Upstream | undefined;
    try {
      await this.#care.renewIfDue(accountId, connector);
      const outcome = await this.#pool.use(ticket, answer.signal, (open) => {
        ({ upstream } = open);
        return method(open, accepted);
      });
      if (outcome instanceof Uint8Array) answer.succeed(outcome);
      else answer.fail(outcome.status, outcome.error);
    } catch (error) {
      if (answer.signal.aborted) return;
      const isRefused = upstream !== undefined && isUnauthorized(error);
      const reason = isRefused ? await this.#care.refuse(accountId, connector, upstream?.credential) : undefined;
      await this.#fail(accountId, connector, verdict, answer, error, reason);
    }
  }

  #discoverResult(connector: GatewayConnector): Uint8Array {
    const known = this.#discoverResults.get(connector.connectorId);
    if (known !== undefined) return known;
    const result = {
      resultType: "complete",
      supportedVersions: MODERN_REVISIONS,
      capabilities: capabilitiesOf(connector),
      ttlMs: DISCOVER_TTL_MS,
      cacheScope: "private",
      _meta: { [MetaKey.serverInfo]: this.#config.serverInfo },
    };
    const bytes = Buffer.from(JSON.stringify(result));
    this.#discoverResults.set(connector.connectorId, bytes);
    return bytes;
  }

  async #checkAuthorization(
    accountId: string,
    connector: GatewayConnector,
    call: ModernCall,
  ): Promise<Refusal | undefined> {
    if (connector.authorization === "none") return undefined;
    const { connections } = await this.#config.state.read(accountId);
    return checkAuthorization(connector, connections.get(connector.connectorId), call.id);
  }

  async #fail(
    accountId: string,
    connector: GatewayConnector,
    call: ModernCall,
    answer: CallAnswer,
    error: unknown,
    refusedBecause: CredentialTrouble | undefined,
  ): Promise<void> {
    // A connection that ends while a call is under way ends the call; the reason is what its caller has to know.
    if (refusedBecause !== undefined || isRemoteConnectorError(error, "cancelled")) {
      const refusal = await this.#checkAuthorization(accountId, connector, call);
      if (refusal !== undefined) return answer.fail(refusal.status, refusal.error);
    }
    if (refusedBecause !== undefined) {
      const data = { reason: refusedBecause, delivery: "answered" };
      const message = "The account's credential could not be used";
      return answer.fail(503, { code: RpcCode.connectorUnavailable, message, data });
    }
    const failure = classifyUpstreamFailure(error, this.#config.unixTime());
    if (failure !== undefined) return answer.fail(failure.status, failure.error, failure.headers);
    this.#config.onFault(error);
    return answer.fail(500, { code: RpcCode.internalError, message: "Internal error" });
  }
}

function knows(connector: GatewayConnector, method: string): boolean {
  return (method === "server/discover" || UPSTREAM_METHODS.has(method)) && isOffered(connector, method);
}
