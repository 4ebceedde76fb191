import { type Delivery, type DeliveryEvidence, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import type { Diagnostic, Notification, StreamEvent } from "../../protocol/index.js";
import type { AnswerHead, HttpCall, HttpCallOwner, HttpEndpoint, Lifetime } from "../../transport/index.js";
import { afterRefusal } from "../after-refusal.js";
import { AnswerStream } from "../answer-stream.js";
import { type AnswerVerdict, classifyAnswer, classifyResponse } from "../classify-answer.js";
import type { ModernClientConfig } from "../client-options.js";
import { NotificationRelay } from "../notification-relay.js";
import { encodeBody, encodeHeaders } from "../request-message.js";
import type { ResponseCache } from "../response-cache.js";
import type { ListenPlan } from "./listen-options.js";
import { readNotification } from "./read-notification.js";
import { readEnd, readError, type SubscriptionEnd } from "./subscription-end.js";
import type { SubscriptionFilter } from "./subscription-filter.js";

/** What the subscriptions of a client share. */
export interface ListenContext {
  readonly config: ModernClientConfig;
  readonly endpoint: HttpEndpoint;
  /** Told of what changed, whether or not a subscription's owner takes it. */
  readonly cache: ResponseCache | undefined;
  nextId(): number;
}

/** Who is told of one subscription. After `onEnd` nothing more comes. */
export interface ListenOwner {
  onAcknowledged(filter: SubscriptionFilter): void;
  /** A reason ends the subscription. */
  onNotification(notification: Notification): RemoteConnectorError | undefined;
  onEnd(end: SubscriptionEnd, delivery: Delivery): void;
}

/**
 * The request of one subscription and its stream.
 *
 * It is made once more when no connection could be made, and when a refused version is worth another try: in both cases there was no
 * subscription.
 */
export class ListenExchange implements HttpCallOwner {
  readonly #context: ListenContext;
  readonly #plan: ListenPlan;
  readonly #owner: ListenOwner;
  readonly #relay: NotificationRelay;
  #attempt = 0;
  #id = 0;
  #http: HttpCall | undefined;
  #stream: AnswerStream | undefined;
  /** Runs until the acknowledgement. */
  #deadline: Lifetime | undefined;
  #acknowledged: SubscriptionFilter | undefined;
  #reconnected = false;
  #versionTried = false;
  #ended = false;

  constructor(context: ListenContext, plan: ListenPlan, owner: ListenOwner) {
    this.#context = context;
    this.#plan = plan;
    this.#owner = owner;
    this.#relay = new NotificationRelay({ onNotification: (one) => this.#onNotification(one) }, this.#note);
  }

  start(): void {
    const { acknowledgeTimeoutMs } = this.#plan;
    this.#deadline = this.#context.endpoint.lifetimes.open(
      { onDeadline: () => this.#onDeadline(), onAbort: () => undefined },
      { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: acknowledgeTimeoutMs },
    );
    this.#send();
  }

  /** Ends it from our side, and closes the stream: that is the cancellation. Nothing happens when it has ended. */
  cancel(reason: unknown): void {
    this.#end({ kind: "cancelled", reason });
  }

  onEvent(event: StreamEvent): void {
    try {
      this.#stream ??= new AnswerStream(this.#id, this.#relay, this.#context.cache, this.#note);
      const message = this.#stream.read(event);
      if (message === undefined || this.#ended) return;
      this.#http?.finish();
      this.#conclude(classifyResponse(message, this.#plan.request.method, this.#id, STREAM_HEAD));
    } catch (error) {
      this.#failInternally(error);
    }
  }

  onBody(head: AnswerHead, body: Uint8Array, isWhole: boolean): void {
    try {
      const { url } = this.#context.endpoint;
      this.#conclude(classifyAnswer({ head, body, isWhole, url }, this.#plan.request.method, this.#id));
    } catch (error) {
      this.#failInternally(error);
    }
  }

  onStreamEnd(evidence: DeliveryEvidence): void {
    const error = new RemoteConnectorError("stream_ended", {
      message: "The stream of the subscription ended without a result.",
      delivery: "unknown",
      details: { reason: "end of stream", evidence },
    });
    this.#end({ kind: "broken", error });
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    if (noConnection && !this.#reconnected && !this.#ended && !this.#context.endpoint.isClosed) {
      this.#reconnected = true;
      this.#send();
    } else if (isRemoteConnectorError(error, "cancelled")) {
      this.#end({ kind: "cancelled", reason: error }, error.delivery);
    } else if (error.delivery === "not_sent" && !noConnection && !isRemoteConnectorError(error, "timeout")) {
      // A check on our side, and not the network.
      this.#end(readError(error, false));
    } else {
      this.#end({ kind: "broken", error });
    }
  }

  onAbort(reason: unknown, delivery: Delivery): void {
    this.#end({ kind: "cancelled", reason }, delivery);
  }

  #send(): void {
    const { request, metaJson, connectTimeoutMs, idleTimeoutMs, signal, admit } = this.#plan;
    const { config, endpoint } = this.#context;
    const attempt = (this.#attempt += 1);
    this.#id = this.#context.nextId();
    this.#stream = undefined;
    const call = {
      method: "POST",
      operation: request.method,
      headers: encodeHeaders(config.headers, request, []),
      body: encodeBody(request, this.#id, metaJson),
      acceptsStream: true,
      attempt,
      limits: { connectTimeoutMs, idleTimeoutMs, totalTimeoutMs: Infinity, signal },
      admit,
    } as const;
    const http = endpoint.begin(call, this);
    // What fails while it begins can have begun the next one.
    if (attempt === this.#attempt) this.#http = http;
  }

  #onNotification(notification: Notification): void {
    if (this.#ended) return;
    const open = { id: this.#id, acknowledged: this.#acknowledged };
    const verdict = readNotification(open, notification);
    if (verdict.diagnostic !== undefined) this.#note(verdict.diagnostic);
    switch (verdict.kind) {
      case "acknowledged":
        this.#acknowledged = verdict.filter;
        this.#deadline?.close();
        this.#owner.onAcknowledged(verdict.filter);
        return;
      case "deliver": {
        const error = this.#owner.onNotification(notification);
        if (error !== undefined) this.#end({ kind: "broken", error });
        return;
      }
      case "ended":
        this.#onEnded(verdict.reason);
        return;
      case "skip":
    }
  }

  #onEnded(reason: string | undefined): void {
    if (this.#acknowledged !== undefined) {
      this.#end({ kind: "ended_by_server", reason });
      return;
    }
    const error = new RemoteConnectorError("cancelled", {
      message: "The server cancelled the subscription before it was acknowledged.",
      delivery: "answered",
      details: { reason: reason ?? "cancelled by the server", ...this.#evidence() },
    });
    this.#end(readError(error, false));
  }

  #conclude(verdict: AnswerVerdict): void {
    if (verdict.idAsString === true) {
      this.#note({ kind: "id_echoed_as_string", message: "The response carries our id as a string." });
    }
    const isAcknowledged = this.#acknowledged !== undefined;
    if (verdict.kind === "failed") {
      const next = afterRefusal(verdict.error, {
        canCorrect: false,
        canRepeat: !this.#versionTried && !isAcknowledged,
      });
      if (next.kind === "repeat") {
        this.#versionTried = true;
        this.#send();
        return;
      }
      this.#end(readError(this.#seen(next.kind === "fail_with" ? next.error : verdict.error), isAcknowledged));
      return;
    }
    this.#end(readEnd(verdict, isAcknowledged));
  }

  #onDeadline(): void {
    const limitMs = this.#plan.acknowledgeTimeoutMs;
    const error = new RemoteConnectorError("timeout", {
      message: `The subscription was not acknowledged within ${String(limitMs)} ms (acknowledgeTimeoutMs).`,
      delivery: this.#delivery(),
      details: { phase: "total", option: "acknowledgeTimeoutMs", limitMs, ...this.#evidence() },
    });
    this.#end({ kind: "broken", error });
  }

  #failInternally(cause: unknown): void {
    const error = new RemoteConnectorError("internal_error", {
      message: "A fault inside the client ended the subscription.",
      delivery: this.#delivery(),
      details: { reason: "unexpected throw", ...this.#evidence() },
      cause,
    });
    this.#end({ kind: "broken", error });
  }

  #delivery(): Delivery {
    return this.#http?.evidence().handedOver === true ? "unknown" : "not_sent";
  }

  #evidence(): { readonly evidence?: DeliveryEvidence } {
    return this.#http === undefined ? {} : { evidence: this.#http.evidence() };
  }

  #seen(error: RemoteConnectorError): RemoteConnectorError {
    return this.#http === undefined ? error : error.withEvidence(error.delivery, this.#http.evidence());
  }

  #end(end: SubscriptionEnd, delivery = "error" in end ? end.error.delivery : this.#delivery()): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deadline?.close();
    const ours = { message: "The subscription is over.", details: { reason: "subscription over" } };
    this.#http?.cancel(new RemoteConnectorError("cancelled", ours));
    this.#owner.onEnd(end, delivery);
  }

  readonly #note = (diagnostic: Diagnostic): void => {
    this.#context.config.onDiagnostic(diagnostic);
  };
}

const STREAM_HEAD: AnswerHead = { status: 200, mediaType: "text/event-stream", headers: {} };
