import type { IncomingMessage, ServerResponse } from "node:http";
import { checkLoopbackHost, headerValue, readBody } from "../../../serving/index.js";
import { createUndiciExchange, type Exchange, isLoopback, Lifetimes } from "../../../transport/index.js";
import { connectorUrl } from "../../gateway-route.js";
import { RELAY_PATH, type RelayReason } from "../wire.js";
import { sendOutcome } from "./answer-head.js";
import { classifyRelayRequest } from "./classify-relay-request.js";
import type { Leases } from "./leases.js";
import type { RelayServerConfig } from "./relay-server-options.js";
import { type RelayContext, RelayedCall } from "./relayed-call.js";

/**
 * The way in for guests. Without a lease's bearer nothing of a request is read; with it, what came is judged whole before
 * anything is asked of the account.
 */
export class RelayEndpoint {
  readonly #context: RelayContext;
  readonly #leases: Leases;
  readonly #exchange: Exchange;
  readonly #looksAtHost: boolean;

  constructor(config: RelayServerConfig, leases: Leases) {
    const { origin } = new URL(config.baseUrl);
    this.#leases = leases;
    // A lease has a number, and so have its requests: connections need none of their own.
    this.#exchange = config.createExchange?.(origin) ?? createUndiciExchange({ origin, maxConnections: Infinity });
    this.#context = { config, exchange: this.#exchange, lifetimes: new Lifetimes(config.clock) };
    const { listen } = config;
    const host = "socketPath" in listen ? undefined : (listen.host ?? "127.0.0.1");
    this.#looksAtHost = host !== undefined && (host === "::1" || isLoopback(host));
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const fault = this.#faultOf(request);
    if (fault !== undefined) {
      this.#refuse(response, 403, "invalid_request", fault);
      return;
    }
    const lease = this.#leases.match(request.headers);
    if (lease === undefined) {
      this.#refuse(response, 401, "unauthorized", "");
      return;
    }
    const { config } = this.#context;
    if (lease.size >= config.maxRequestsPerLease) {
      this.#refuse(response, 503, "busy", "maxRequestsPerLease");
      return;
    }
    const call = new RelayedCall(this.#context, lease, response);
    const reading = await readBody(request, { maxBytes: config.maxBodyBytes });
    if (call.isOver || reading.kind === "aborted") return;
    if (reading.kind === "too_large") {
      call.fail(413, "invalid_request", "maxBodyBytes");
      return;
    }
    const body = new Uint8Array(reading.body);
    const verdict = classifyRelayRequest(request.headers, body, lease.terms, config);
    if (verdict.kind === "refused") {
      const { status, reason, detail } = verdict;
      config.logger.warn("A guest's request was refused.", { leaseId: lease.id, reason, detail });
      call.fail(status, reason, detail);
      return;
    }
    await call.send(verdict, body, new URL(connectorUrl(config.baseUrl, verdict.leased.connectorKey)));
  }

  /** Ends the connections with the gateway. */
  destroy(): Promise<void> {
    return this.#exchange.destroy();
  }

  #refuse(response: ServerResponse, status: number, reason: RelayReason, detail: string): void {
    this.#context.config.logger.warn("A request without a lease was refused.", { reason, detail });
    sendOutcome(response, status, { outcome: "not_sent", reason, detail });
  }

  /** A page in a browser has no business here, whatever name it has made resolve to this machine. */
  #faultOf({ headers, method, url }: IncomingMessage): string | undefined {
    if (headerValue(headers, "origin") !== undefined) return "an Origin";
    if (this.#looksAtHost && checkLoopbackHost(headers).kind === "refused") return "another Host";
    return method === "POST" && url === RELAY_PATH ? undefined : "another method or path";
  }
}
