import type { Delivery, DeliveryEvidence, RemoteConnectorError } from "../errors.js";
import type { Diagnostic, MirroredHeader } from "../protocol/index.js";
import type { LifetimeLimits, Lifetimes } from "../transport/index.js";
import type { AnswerVerdict } from "./classify-answer.js";

/** A message on its way out, whatever carries it. */
export interface ChannelMessage {
  readonly method: string;
  /** The whole message as JSON. */
  readonly body: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly limits: LifetimeLimits;
  /** The owner's last word before the first byte is written: a reason refuses. Synchronous. */
  readonly admit: (() => string | undefined) | undefined;
  /** The same object in all messages of one call, where there is one who authorizes them. */
  readonly purpose?: object | undefined;
}

export interface ChannelRequest extends ChannelMessage {
  /** The id in the body: unique among all requests of the channel. */
  readonly id: number;
  /** What is mirrored beside the body, where there is something beside it. */
  readonly name: string | undefined;
  readonly mirrored: readonly MirroredHeader[];
  /** Whether it stays open for as long as it can, as a subscription does. Such a request takes no turn of the others. */
  readonly isLong: boolean;
  /** How many redirects in a row are followed; the transport's default when left out. */
  readonly maxRedirects?: number | undefined;
}

/** Who is told how a message fared. After one of the two, nothing more comes. */
export interface MessageOwner {
  /** `noConnection`: none could be made, so that another attempt may find one. */
  onFailure(error: RemoteConnectorError, noConnection: boolean): void;
  /** The caller's signal fired. */
  onAbort(reason: unknown, delivery: Delivery): void;
}

/** Who is told of a request's answer. After the verdict nothing more comes. */
export interface RequestOwner extends MessageOwner {
  /** A notification that belongs to the request, or may: in order. `size`: of the message, in bytes or characters. */
  onNotification(method: string, params: unknown, size: number): void;
  /** The answer, and the message that holds it: a body's or a line's bytes, or an event's data. */
  onVerdict(verdict: AnswerVerdict, message: Uint8Array | string): void;
  /** What the channel tolerated. */
  note(diagnostic: Diagnostic): void;
}

/** Who is told of a notification's fate. */
export interface NoticeOwner extends MessageOwner {
  /** The peer has it, as far as that can be known. */
  onTaken(): void;
  /** The peer's answer is a refusal. */
  onRefusal(error: RemoteConnectorError): void;
}

/** One message under way. */
export interface ChannelCall {
  /** Ends it from our side. The peer is told where nothing else tells it; the owner is not. Nothing happens when it has ended. */
  cancel(): void;
  /** As {@link cancel}, of a request that the peer has ended. */
  drop(): void;
  /** What was seen so far, or until the end. */
  evidence(): DeliveryEvidence;
}

/**
 * What carries the messages of a client: their turns, deadlines and limits, and the evidence of what became of them. It
 * decides nothing by what an answer means.
 */
export interface Channel {
  readonly isClosed: boolean;
  /** Whether whatever is begun fails: it is closed, or what carried the messages is gone for good. */
  readonly isSpent: boolean;
  /** Joins deadlines and signals, also of what waits between two requests. */
  readonly lifetimes: Lifetimes;
  /** Begins a request. Its outcome reaches `owner`, at the earliest while this runs. */
  begin(request: ChannelRequest, owner: RequestOwner): ChannelCall;
  /** Begins a notification, as {@link begin}. */
  notify(notice: ChannelMessage, owner: NoticeOwner): ChannelCall;
  /** Ends everything under way with `cancelled`. Idempotent; never rejects because of the peer. */
  close(): Promise<void>;
}

/** What a channel needs of its client. */
export interface ChannelPorts {
  /** The next request id: unique for the client's life, from 1. */
  nextId(): number;
  /** Told of every notification of the peer, once. */
  heed(method: string, params: unknown): void;
}
