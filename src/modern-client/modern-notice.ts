import { type Delivery, type DeliveryEvidence, isRemoteConnectorError, type RemoteConnectorError } from "../errors.js";
import { MODERN_REVISION } from "../protocol/index.js";
import {
  type CallTelemetry,
  type Deadlines,
  type ExchangeTelemetry,
  internalFault,
  NOTHING_SENT,
  resultOfAbort,
  resultOfAnswer,
  resultOfError,
  Settlement,
} from "../transport/index.js";
import type { NotifyOptions } from "./call-options.js";
import type { CallContext } from "./call-plan.js";
import { CallWatch } from "./call-watch.js";
import type { ChannelCall, NoticeOwner } from "./channel.js";
import type { OutgoingNotice } from "./request-message.js";

/**
 * One notification of ours, which nobody answers. It is sent again only when no connection could be made, and then once.
 */
export class ModernNotice implements NoticeOwner {
  readonly #settlement: Settlement<void>;
  readonly #context: Pick<CallContext, "channel">;
  readonly #notice: OutgoingNotice;
  readonly #options: NotifyOptions;
  readonly #watch: CallWatch;
  readonly #telemetry: CallTelemetry | undefined;
  #told: ExchangeTelemetry | undefined;
  #attempt = 0;
  #exchange: ChannelCall | undefined;

  constructor(context: CallContext, notice: OutgoingNotice, deadlines: Deadlines, options: NotifyOptions) {
    this.#context = context;
    this.#notice = notice;
    this.#options = options;
    this.#settlement = new Settlement(options.onSettled);
    this.#watch = new CallWatch(context, deadlines, options.signal);
    this.#telemetry = context.config.telemetry.call();
  }

  get promise(): Promise<void> {
    return this.#settlement.promise;
  }

  /** Sends it. Failures settle the promise; nothing is thrown. */
  start(): this {
    const { method, body } = this.#notice;
    const { admit, signal } = this.#options;
    const attempt = (this.#attempt += 1);
    const told = this.#telemetry?.begin({ ...UNNAMED, method, attempt });
    this.#told = told;
    const { purpose } = this.#watch;
    const limits = { ...this.#watch.deadlines, totalTimeoutMs: this.#watch.timeLeft(), signal };
    try {
      const exchange = this.#context.channel.notify({ method, body, attempt, limits, admit, purpose }, this);
      // What fails while it begins can have begun the next one.
      if (attempt === this.#attempt) this.#exchange = exchange;
    } catch (error) {
      told?.end(resultOfError(error));
      this.#settlement.fail(isRemoteConnectorError(error) ? error : internalFault(error, this.#evidence()));
    }
    return this;
  }

  onTaken(): void {
    this.#told?.end(resultOfAnswer({}));
    this.#settlement.resolve();
  }

  onRefusal(error: RemoteConnectorError): void {
    this.#told?.end(resultOfError(error));
    this.#settlement.fail(error.withEvidence(error.delivery, this.#evidence()));
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    this.#told?.end(resultOfError(error));
    if (noConnection && this.#attempt === 1 && !this.#watch.isOver && !this.#context.channel.isClosed) {
      this.start();
      return;
    }
    const isTotal = isRemoteConnectorError(error, "timeout") && error.details.phase === "total";
    this.#settlement.fail(isTotal ? this.#watch.totalTimeout(error.delivery, this.#evidence()) : error);
  }

  onAbort(reason: unknown, delivery: Delivery): void {
    this.#told?.end(resultOfAbort(delivery));
    this.#settlement.abort(reason, delivery);
  }

  #evidence(): DeliveryEvidence {
    return this.#exchange?.evidence() ?? NOTHING_SENT;
  }
}

/** A notification has no id, and names nothing. */
const UNNAMED = { name: undefined, id: undefined, protocolVersion: MODERN_REVISION } as const;
