import { RemoteConnectorError } from "../errors.js";
import { OpenList } from "../open-list.js";
import type { Authorize, Authorizer } from "./authorize.js";
import type { Exchange } from "./exchange.js";
import { refuseOption } from "../options.js";
import { HttpCall } from "./http-call.js";
import type { HttpCallContext, HttpCallOwner, HttpCallRequest } from "./http-call-ports.js";
import { Lifetimes } from "./lifetime.js";
import { resolveAuthorizer } from "./resolve-authorizer.js";
import { RequestSlots } from "./request-slots.js";
import { MAX_DRAINING } from "./stream-drain.js";
import type { TransportConfig } from "./transport-options.js";
import { openUndiciExchange } from "./undici-exchange.js";

/**
 * One HTTP endpoint: its connections, the turns of its requests, their deadlines, and who authorizes them.
 *
 * Calls end by themselves; {@link close} ends those that have not.
 */
export class HttpEndpoint implements HttpCallContext {
  readonly url: URL;
  readonly path: string;
  readonly config: TransportConfig;
  readonly authorizer: Authorizer | undefined;
  readonly exchange: Exchange;
  readonly lifetimes: Lifetimes;
  readonly slots: RequestSlots;
  draining = 0;
  readonly #calls = new OpenList<HttpCall>();
  #closed: Promise<void> | undefined;

  constructor(url: URL, config: TransportConfig, authorize: Authorize | Authorizer | undefined) {
    this.url = url;
    this.config = config;
    this.authorizer = resolveAuthorizer(authorize);
    this.path = url.pathname + url.search;
    const maxConnections = config.maxConcurrentRequests + MAX_DRAINING;
    this.exchange = config.exchange ?? openUndiciExchange(url.origin, maxConnections, config.connection);
    if (this.exchange.origin !== url.origin) refuseOption("exchange", "must be for the origin of the endpoint");
    this.lifetimes = new Lifetimes(config.clock);
    this.slots = new RequestSlots(config);
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** Begins a call. Its outcome reaches `owner`, at the earliest while this runs. */
  begin(request: HttpCallRequest, owner: HttpCallOwner): HttpCall {
    const call = new HttpCall(this, request, owner, this.#forget);
    this.#calls.add(call);
    if (this.isClosed) call.cancel(closedError());
    else call.start();
    return call;
  }

  /** Ends every call with `cancelled` and drops all connections. Idempotent. */
  close(): Promise<void> {
    if (this.#closed === undefined) {
      // The newest first: those that wait must not be given the turns of those that end.
      for (const call of this.#calls.toArray().toReversed()) call.cancel(closedError());
      this.#closed = this.exchange.destroy();
    }
    return this.#closed;
  }

  readonly #forget = (call: HttpCall): void => {
    this.#calls.delete(call);
  };
}

/** The failure of what was under way, or begun, when its client was closed. `not_sent`. */
export function closedError(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The client is closed.",
    details: { reason: "client closed" },
  });
}
