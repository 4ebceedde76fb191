import { type Delivery, type DeliveryEvidence, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { parseJson, type StreamEvent } from "../../protocol/index.js";
import {
  type AnswerHead,
  closedError,
  type DeadlinePhase,
  type EndpointPolicy,
  type HttpCall,
  type HttpCallOwner,
  type HttpCallRequest,
  type HttpEndpoint,
  internalFault,
  isSuccess,
  type Lifetime,
  type LifetimeLimits,
  NOTHING_SENT,
  Settlement,
  streamEnded,
} from "../../transport/index.js";
import { refusalOf } from "./classify-http-answer.js";
import { resolveMessageUrl } from "./resolve-message-url.js";

/** Who is told of what the stream brings. */
export interface SseStreamOwner {
  receive(value: unknown, message: string): void;
  /** The stream is over: nothing comes any more. Not called when it never named its endpoint. */
  onEnd(error: RemoteConnectorError): void;
}

/**
 * The stream of a server of the oldest transport: its first event names the place to post to, the others are its messages.
 *
 * Source: 2024-11-05, Transports, HTTP with SSE.
 */
export class SseStream implements HttpCallOwner {
  readonly #endpoint: HttpEndpoint;
  readonly #policy: EndpointPolicy;
  readonly #owner: SseStreamOwner;
  /** Settled once the endpoint is known, or can't be. */
  readonly #named = new Settlement<URL>();
  /** Over the time until the endpoint is known. */
  #watch: Lifetime | undefined;
  #http: HttpCall | undefined;
  #url: URL;
  #isNamed = false;
  /** Its authorizer is asked of a refusal. */
  #isRefused = false;
  #isOver = false;

  constructor(endpoint: HttpEndpoint, policy: EndpointPolicy, owner: SseStreamOwner) {
    this.#endpoint = endpoint;
    this.#policy = policy;
    this.#owner = owner;
    this.#url = endpoint.url;
  }

  /**
   * Opens the stream, and gives the place to post to. Rejects with `timeout` when that is not named within
   * `connectTimeoutMs`, which stands still while an authorizer is asked of a refusal, or within the total deadline; with `invalid_url`, with what any exchange can end with, or with the signal's reason.
   */
  open(headers: readonly string[], limits: LifetimeLimits, purpose: object | undefined): Promise<URL> {
    const { connectTimeoutMs, totalTimeoutMs, signal } = limits;
    if (signal?.aborted === true) {
      this.onAbort(signal.reason, "not_sent");
      return this.#named.promise;
    }
    const watched = {
      onAbort: (reason: unknown) => this.#abort(reason),
      onDeadline: (phase: DeadlinePhase, limitMs: number) => this.#passDeadline(phase, limitMs),
    };
    const unlimited = { connectTimeoutMs, idleTimeoutMs: Infinity, totalTimeoutMs: Infinity };
    this.#watch = this.#endpoint.lifetimes.open(watched, { ...unlimited, totalTimeoutMs, signal });
    this.#watch.connecting();
    const call: HttpCallRequest = {
      method: "GET",
      operation: "GET",
      purpose,
      // Here signing in begins, when it is asked for.
      isAwaited: true,
      headers: ["Accept", "text/event-stream", ...headers],
      body: null,
      acceptsStream: true,
      attempt: 1,
      limits: unlimited,
    };
    this.#http = this.#endpoint.begin(call, this);
    return this.#named.promise;
  }

  close(): void {
    this.#isOver = true;
    this.#watch?.close();
    this.#http?.cancel(closedError());
    if (!this.#isNamed) this.#named.fail(closedError());
  }

  onAsking(): void {
    this.#isRefused = true;
    this.#watch?.waiting();
  }

  onAgain(): void {
    this.#isRefused = false;
    this.#watch?.connecting();
  }

  onHead({ url }: AnswerHead): void {
    this.#url = url ?? this.#url;
  }

  onEvent({ data, event, unterminated }: StreamEvent): void {
    if (this.#isOver || data === "") return;
    if (event === "endpoint") {
      this.#name(data);
      return;
    }
    const value = parseJson(data);
    if (value !== undefined || !unterminated) this.#owner.receive(value, data);
  }

  onBody(head: AnswerHead, body: Uint8Array, isWhole: boolean): void {
    const answer = { head, body, isWhole, url: this.#endpoint.url };
    this.#end(isSuccess(head.status) ? refusalOf(answer, "no event stream") : refusalOf(answer));
  }

  onStreamEnd(evidence: DeliveryEvidence): void {
    this.#end(streamEnded(evidence));
  }

  onFailure(error: RemoteConnectorError): void {
    this.#end(error);
  }

  onAbort(reason: unknown, delivery: Delivery): void {
    this.#isOver = true;
    this.#watch?.close();
    this.#named.abort(reason, delivery);
  }

  #name(data: string): void {
    // Another one, or one that was not asked for any more, moves nothing.
    if (this.#isNamed) return;
    try {
      const url = resolveMessageUrl(data, this.#url, this.#policy);
      this.#isNamed = true;
      this.#watch?.close();
      this.#named.resolve(url);
    } catch (error) {
      this.#end(isRemoteConnectorError(error) ? error : internalFault(error, this.#evidence()));
      this.#http?.cancel(closedError());
    }
  }

  #abort(reason: unknown): void {
    const reached = this.#evidence().handedOver ? "unknown" : "not_sent";
    this.onAbort(reason, this.#isRefused ? "answered" : reached);
    this.#http?.cancel(closedError());
  }

  #evidence(): DeliveryEvidence {
    return this.#http?.evidence() ?? NOTHING_SENT;
  }

  #passDeadline(phase: DeadlinePhase, limitMs: number): void {
    const option = phase === "total" ? "lifecycleTimeoutMs" : "connectTimeoutMs";
    this.#end(
      new RemoteConnectorError("timeout", {
        message: `The server named no endpoint within ${String(limitMs)} ms (${option}).`,
        delivery: this.#isRefused ? "answered" : "unknown",
        details: { phase, option, limitMs },
      }),
    );
    this.#http?.cancel(closedError());
  }

  #end(error: RemoteConnectorError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watch?.close();
    if (this.#isNamed) this.#owner.onEnd(error);
    else this.#named.fail(error);
  }
}
