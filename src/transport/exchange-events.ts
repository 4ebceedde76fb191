import { channel } from "node:diagnostics_channel";
import type { Delivery, ErrorCode } from "../errors.js";

/**
 * What is told of each exchange on `node:diagnostics_channel`, in this order: `connect`, `sent`, `head`, `end`. The middle
 * two can be missing; whatever began ends. A redirect that is followed is an exchange of its own, and so is a request that is made
 * again after its authorization was refused.
 *
 * Payloads hold no header values, bodies, query values or userinfo. They are made only when someone listens: who begins to
 * listen hears of the exchanges that begin afterwards. A listener that throws is an uncaught exception, as Node has it.
 */
export const EXCHANGE_CHANNELS = {
  connect: "remote-connector:exchange:connect",
  sent: "remote-connector:exchange:sent",
  head: "remote-connector:exchange:head",
  end: "remote-connector:exchange:end",
} as const;

/** A connection is looked for; the turn and the authorization have been waited for. */
export interface ExchangeConnectEvent {
  /** Unlike that of every other exchange of this process. */
  readonly exchange: number;
  /** Without userinfo and query values. */
  readonly url: string;
  readonly method: string;
  /** The JSON-RPC method, or the HTTP method of a request without one. */
  readonly operation: string;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
  /** Redirects that led here. */
  readonly redirects: number;
}

/** The request was admitted, and handed to a connection. */
export interface ExchangeSentEvent {
  readonly exchange: number;
}

/** The head of the answer is there. */
export interface ExchangeHeadEvent {
  readonly exchange: number;
  readonly status: number;
  /** In lower case, without parameters. */
  readonly mediaType: string;
}

/** The exchange is over for its owner; the rest of a finished stream may still be read. */
export interface ExchangeEndEvent {
  readonly exchange: number;
  /** `stream_ended`: without the owner having what it waits for. */
  readonly outcome: "answered" | "redirected" | "stream_ended" | "failed" | "aborted";
  /** Of a failure. */
  readonly code?: ErrorCode | undefined;
  /** What is known of the request when there is no answer to judge. */
  readonly delivery?: Delivery | undefined;
  /** Messages that came on a stream. */
  readonly messages: number;
  /** Milliseconds since the request was made, its turn, earlier redirects and earlier refusals included. */
  readonly elapsedMs: number;
}

const connect = channel(EXCHANGE_CHANNELS.connect);
const sent = channel(EXCHANGE_CHANNELS.sent);
const head = channel(EXCHANGE_CHANNELS.head);
const end = channel(EXCHANGE_CHANNELS.end);

let lastExchange = 0;

/** A number for an exchange that begins, if anyone listens; else `undefined`, and nothing is to be told of it. */
export function numberExchange(): number | undefined {
  const isHeard = connect.hasSubscribers || sent.hasSubscribers || head.hasSubscribers || end.hasSubscribers;
  return isHeard ? (lastExchange += 1) : undefined;
}

export function tellConnect(event: ExchangeConnectEvent): void {
  connect.publish(event);
}

export function tellSent(event: ExchangeSentEvent): void {
  sent.publish(event);
}

export function tellHead(event: ExchangeHeadEvent): void {
  head.publish(event);
}

export function tellEnd(event: ExchangeEndEvent): void {
  end.publish(event);
}
