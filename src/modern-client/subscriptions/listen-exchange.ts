import { type Delivery, type DeliveryEvidence, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { type Diagnostic, isNotAuthorized, isPassing, type Notification } from "../../protocol/index.js";
import {
  type CallTelemetry,
  type ExchangeTelemetry,
  type Lifetime,
  resultOfAbort,
  resultOfAnswer,
  resultOfError,
} from "../../transport/index.js";
import { afterRefusal } from "../after-refusal.js";
import type { Channel, ChannelCall, RequestOwner } from "../channel.js";
import type { AnswerVerdict } from "../classify-answer.js";
import type { ModernClientConfig } from "../client-options.js";
import { NotificationRelay } from "../notification-relay.js";
import { encodeBody } from "../request-message.js";
import { withTrace } from "../request-meta.js";
import { tellOf, toldOwner } from "../told-exchange.js";
import type { TaskNews } from "../task-news.js";
import type { ListenPlan } from "./listen-options.js";
import { readNotification } from "./read-notification.js";
import { readEnd, readError, type SubscriptionEnd } from "./subscription-end.js";
import type { SubscriptionFilter } from "./subscription-filter.js";

/** What the subscriptions of a client share. */
export interface ListenContext {
  readonly config: ModernClientConfig;
  readonly channel: Channel;
  /** What is heard of tasks. */
  readonly news: TaskNews;
  nextId(): number;
}

/** Who is told of one subscription. After `onEnd` nothing more comes. */
export interface ListenOwner {
  onAcknowledged(filter: SubscriptionFilter): void;
  /** A reason ends the subscription. `size`: of the message, in bytes or characters. */
  onNotification(notification: Notification, size: number): RemoteConnectorError | undefined;
  onEnd(end: SubscriptionEnd, delivery: Delivery): void;
}

/**
 * The request of one subscription and its stream.
 *
 * It is made once more when no connection could be made, and when a refused version is worth another try: in both cases there was no
 * subscription.
 */
export class ListenExchange implements RequestOwner {
  readonly #context: ListenContext;
  readonly #plan: ListenPlan;
  readonly #owner: ListenOwner;
  readonly #relay: NotificationRelay;
  readonly #telemetry: CallTelemetry | undefined;
  readonly #purpose = {};
  /** Ends with the acknowledgement: what follows can follow for days. */
  #told: ExchangeTelemetry | undefined;
  #attempt = 0;
  #id = 0;
  #request: ChannelCall | undefined;
  /** Runs until the acknowledgement. */
  #deadline: Lifetime | undefined;
  #acknowledged: SubscriptionFilter | undefined;
  #unfollow: (() => void) | undefined;
  #reconnected = false;
  #versionTried = false;
  /** Of the message that is being received. */
  #size = 0;
  #endedByServer = false;
  #ended = false;

  constructor(context: ListenContext, plan: ListenPlan, owner: ListenOwner) {
    this.#context = context;
    this.#plan = plan;
    this.#owner = owner;
    this.#telemetry = context.config.telemetry.call();
    this.#relay = new NotificationRelay({ onNotification: (one) => this.#receive(one) }, this.#note);
  }

  start(): void {
    const { acknowledgeTimeoutMs } = this.#plan;
    this.#deadline = this.#context.channel.lifetimes.open(
      { onDeadline: () => this.#onDeadline(), onAbort: () => undefined },
      { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: acknowledgeTimeoutMs },
    );
    this.#send();
  }

  /** Ends it from our side, and closes the stream: that is the cancellation. Nothing happens when it has ended. */
  cancel(reason: unknown): void {
    this.#end({ kind: "cancelled", reason });
  }

  onNotification(method: string, params: unknown, size: number): void {
    this.#size = size;
    this.#relay.notify(method, params, this.#id);
  }

  onVerdict(verdict: AnswerVerdict): void {
    if (!this.#ended) this.#conclude(verdict);
  }

  note(diagnostic: Diagnostic): void {
    this.#note(diagnostic);
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    if (noConnection && !this.#reconnected && !this.#ended && !this.#context.channel.isClosed) {
      this.#reconnected = true;
      this.#send();
    } else if (isRemoteConnectorError(error, "cancelled")) {
      this.#end({ kind: "cancelled", reason: error }, error.delivery);
    } else if (isNotAuthorized(error) || (error.delivery === "not_sent" && !noConnection && !isOnTheWay(error))) {
      // A check on our side, and neither the network nor a process; or one that the server's refusal led to.
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
    const { channel, config } = this.#context;
    const attempt = (this.#attempt += 1);
    this.#id = this.#context.nextId();
    this.#told = tellOf(this.#telemetry, request, this.#id, attempt);
    const message = {
      method: request.method,
      id: this.#id,
      name: request.name,
      mirrored: [],
      body: encodeBody(request, this.#id, withTrace(metaJson, this.#told?.carried, config.meta, request.meta)),
      isLong: true,
      attempt,
      limits: { connectTimeoutMs, idleTimeoutMs, totalTimeoutMs: Infinity, signal },
      admit,
      purpose: this.#purpose,
    };
    const exchange = channel.begin(message, toldOwner(this, this.#told));
    // What fails while it begins can have begun the next one.
    if (attempt === this.#attempt) this.#request = exchange;
    // So can the caller's check have ended it, before there was anything to cancel.
    if (this.#ended) exchange.cancel();
  }

  #receive(notification: Notification): void {
    if (this.#ended) return;
    const open = { id: this.#id, acknowledged: this.#acknowledged };
    const verdict = readNotification(open, notification);
    if (verdict.diagnostic !== undefined) this.#note(verdict.diagnostic);
    switch (verdict.kind) {
      case "acknowledged":
        this.#acknowledged = verdict.filter;
        this.#unfollow = this.#context.news.follow(verdict.filter.taskIds);
        this.#deadline?.close();
        this.#told?.end(resultOfAnswer({}));
        this.#owner.onAcknowledged(verdict.filter);
        return;
      case "deliver": {
        const error = this.#owner.onNotification(notification, this.#size);
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
    this.#endedByServer = true;
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

  #delivery(): Delivery {
    return this.#request?.evidence().handedOver === true ? "unknown" : "not_sent";
  }

  #evidence(): { readonly evidence?: DeliveryEvidence } {
    return this.#request === undefined ? {} : { evidence: this.#request.evidence() };
  }

  #seen(error: RemoteConnectorError): RemoteConnectorError {
    return this.#request === undefined ? error : error.withEvidence(error.delivery, this.#request.evidence());
  }

  #end(end: SubscriptionEnd, delivery = "error" in end ? end.error.delivery : this.#delivery()): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deadline?.close();
    this.#unfollow?.();
    this.#told?.end("error" in end ? resultOfError(end.error) : resultOfAbort(delivery));
    if (this.#endedByServer) this.#request?.drop();
    else this.#request?.cancel();
    this.#owner.onEnd(end, delivery);
  }

  readonly #note = (diagnostic: Diagnostic): void => {
    this.#context.config.onDiagnostic(diagnostic);
  };
}

/** Whether it failed between us and the server. */
function isOnTheWay(error: RemoteConnectorError): boolean {
  return isRemoteConnectorError(error) && (isPassing(error) || error.code === "spawn_failed");
}
