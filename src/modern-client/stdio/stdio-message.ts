import { type Delivery, type DeliveryEvidence, RemoteConnectorError } from "../../errors.js";
import {
  type Clock,
  type DeadlinePhase,
  deadlineFailure,
  failureOf,
  type Lifetime,
  type LifetimeOwner,
  type Lifetimes,
  refusalOf,
  type RequestSlots,
  type SlotWaiter,
} from "../../transport/index.js";
import type { Outgoing } from "../../transport/process/index.js";
import type { ChannelCall, ChannelMessage, MessageOwner } from "../channel.js";

type State =
  /** Waits for its turn. */
  | "queued"
  /** Waits for a process, or for the process to read. */
  | "waiting"
  /** Its line was handed to the process. */
  | "sent"
  | "ended";

/** What a message needs of the channel that it runs on. */
export interface MessageHost {
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
  readonly slots: RequestSlots;
  /** Write it as soon as there is a process that may have it. */
  onTurn(message: StdioMessage): void;
  /** Called right before its line is written: from now on it can be answered. */
  onSending(message: StdioMessage): void;
  /** The pipe broke before the line was written, or while it was. */
  onSendFailed(message: StdioMessage, cause: Error): void;
  /** It is over. `tell`: the server may be at work on it, and should hear that nobody waits. */
  onEnded(message: StdioMessage, tell: boolean): void;
  /** What keeps messages from being written, when something does. */
  holdup(): unknown;
}

/**
 * One message to the server, from the caller's wish to its end: its turn, its deadlines, and the evidence for the delivery verdict,
 * which turns on one moment: when its line was handed to the server's stdin.
 */
export abstract class StdioMessage implements ChannelCall, LifetimeOwner, SlotWaiter, Outgoing {
  protected readonly message: ChannelMessage;
  protected readonly host: MessageHost;
  readonly #owner: MessageOwner;
  /** Whether it needs a turn, of which there are so many. */
  readonly #takesTurn: boolean;
  readonly #startedAt: number;
  #state: State = "queued";
  #lifetime: Lifetime | undefined;
  #holdsSlot = false;
  #handedOver = false;
  protected received = 0;

  constructor(message: ChannelMessage, owner: MessageOwner, host: MessageHost, takesTurn: boolean) {
    this.message = message;
    this.host = host;
    this.#owner = owner;
    this.#takesTurn = takesTurn;
    this.#startedAt = host.clock.now();
  }

  /** Whether its line was handed to the server, and it is not over. */
  get isSent(): boolean {
    return this.#state === "sent";
  }

  start(): this {
    const { limits } = this.message;
    if (limits.signal?.aborted === true) {
      this.onAbort(limits.signal.reason);
      return this;
    }
    this.#lifetime = this.host.lifetimes.open(this, limits);
    if (!this.#takesTurn) {
      this.#proceed();
      return this;
    }
    try {
      this.host.slots.take(this);
    } catch (error) {
      this.failWith(error);
    }
    return this;
  }

  onSlot(): void {
    this.#holdsSlot = true;
    this.#proceed();
  }

  take(): string | undefined {
    if (this.#state !== "waiting") return undefined;
    const { admit, body } = this.message;
    const refusal = admit === undefined ? undefined : refusalOf(admit);
    if (refusal !== undefined) this.failWith(refusal);
    if (!this.#isWaiting()) return undefined;
    this.#state = "sent";
    this.#handedOver = true;
    this.#lifetime?.established();
    this.host.onSending(this);
    // Outside of strings, where JSON has none, a line end is white space; a line must not hold one.
    return LINE_END.test(body) ? body.replaceAll(LINE_ENDS, " ") : body;
  }

  failed(cause: Error): void {
    if (this.#state !== "ended") this.host.onSendFailed(this, cause);
  }

  /** The server shows that it lives. While the line waits it is the server's reading that is waited for. */
  touch(): void {
    if (this.#state === "sent") this.#lifetime?.touch();
  }

  onDeadline(phase: DeadlinePhase, limitMs: number): void {
    const cause = this.#handedOver ? undefined : this.host.holdup();
    const error = deadlineFailure(phase, limitMs);
    this.#fail(cause === undefined ? error : withCause(error, cause), true);
  }

  onAbort(reason: unknown): void {
    const delivery = this.#delivery();
    if (this.end(true)) this.#owner.onAbort(reason, delivery);
  }

  cancel(): void {
    this.end(true);
  }

  drop(): void {
    this.end(false);
  }

  /** Ends it with an error whose verdict is what is known while no answer is. */
  failWith(error: unknown): void {
    this.#fail(failureOf(error), false);
  }

  evidence(): DeliveryEvidence {
    return {
      handedOver: this.#handedOver,
      headersSeen: false,
      messages: this.received,
      elapsedMs: Math.round(this.host.clock.now() - this.#startedAt),
      attempts: this.message.attempt,
    };
  }

  /** False when it had ended before. */
  protected end(tell: boolean): boolean {
    if (this.#state === "ended") return false;
    const wasSent = this.#state === "sent";
    this.#state = "ended";
    this.#lifetime?.close();
    this.host.onEnded(this, tell && wasSent);
    if (this.#holdsSlot) this.host.slots.release();
    else this.host.slots.leave(this);
    return true;
  }

  #proceed(): void {
    // Whatever became of it meanwhile.
    if (this.#state !== "queued") return;
    this.#state = "waiting";
    // The start of a process counts as connecting.
    this.#lifetime?.connecting();
    this.host.onTurn(this);
  }

  /** The check is the caller's code, and may have ended it. */
  #isWaiting(): boolean {
    return this.#state === "waiting";
  }

  #fail(error: RemoteConnectorError, tell: boolean): void {
    const seen = error.withEvidence(this.#delivery(), this.evidence());
    if (this.end(tell)) this.#owner.onFailure(seen, false);
  }

  #delivery(): Delivery {
    return this.#handedOver ? "unknown" : "not_sent";
  }
}

const LINE_END = /[\r\n]/;
const LINE_ENDS = /[\r\n]/g;

function withCause(error: RemoteConnectorError, cause: unknown): RemoteConnectorError {
  return new RemoteConnectorError(error.code, { message: error.message, details: error.details, cause });
}
