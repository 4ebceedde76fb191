import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Clock } from "../transport/index.js";

export interface HintHubOptions {
  readonly clock: Clock;
  readonly pingMs: number;
}

/** Largest message that is read from a subscriber. Nothing that it says means anything. */
const MAX_MESSAGE_BYTES = 16 * 1024;
/** Unsent bytes beyond which a subscriber is taken to read nothing, and ended: it will come back and look anew. */
const MAX_UNSENT_BYTES = 64 * 1024;

/** WebSocket: the server is going away. Source: RFC 6455, Defined Status Codes. */
const GOING_AWAY = 1001;
/** WebSocket: the server begins anew, and clients may come back. Source: the registry of WebSocket close codes. */
const SERVICE_RESTART = 1012;

/**
 * The connections on which accounts are told that an authorization changed. A hint is not the change: one that is lost
 * costs time, and the snapshot stays the truth.
 */
export class HintHub {
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });
  readonly #options: HintHubOptions;
  readonly #subscribers = new Map<WebSocket, string>();
  /** Those that have not answered the last ping. */
  readonly #silent = new WeakSet<WebSocket>();
  #cancelPing: () => void;

  constructor(options: HintHubOptions) {
    this.#options = options;
    this.#cancelPing = this.#schedulePing();
  }

  /** Takes over a connection that asked for a WebSocket, on behalf of an account. */
  accept(accountId: string, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (subscriber) => {
      this.#subscribers.set(subscriber, accountId);
      subscriber.on("pong", () => this.#silent.delete(subscriber));
      subscriber.on("close", () => this.#subscribers.delete(subscriber));
      // A broken frame or connection; `close` follows.
      subscriber.on("error", () => subscriber.terminate());
    });
  }

  /** Tells the account's subscribers that one of its connectors changed. */
  publish(accountId: string, connectorId: string, revision: bigint): void {
    const hint = JSON.stringify({
      protocol_version: 2,
      event_type: "connector.authorization.changed",
      payload: { connectorId, revision: String(revision) },
    });
    for (const subscriber of this.#of(accountId)) {
      if (subscriber.bufferedAmount > MAX_UNSENT_BYTES) subscriber.terminate();
      else subscriber.send(hint);
    }
  }

  /** Ends the account's connections, or all of them, as a server does that begins anew. */
  restart(accountId: string | undefined): void {
    for (const subscriber of this.#of(accountId)) subscriber.close(SERVICE_RESTART);
  }

  /** Ends the account's connections, or all of them, without a word. */
  drop(accountId: string | undefined): void {
    for (const subscriber of this.#of(accountId)) subscriber.terminate();
  }

  /** Ends every connection. */
  close(): void {
    this.#cancelPing();
    for (const subscriber of this.#subscribers.keys()) subscriber.close(GOING_AWAY);
    this.#server.close();
  }

  #of(accountId: string | undefined): readonly WebSocket[] {
    const all = [...this.#subscribers];
    return all.flatMap(([subscriber, account]) =>
      accountId === undefined || account === accountId ? [subscriber] : [],
    );
  }

  #schedulePing(): () => void {
    return this.#options.clock.schedule(this.#options.pingMs, () => {
      for (const subscriber of this.#subscribers.keys()) this.#ping(subscriber);
      this.#cancelPing = this.#schedulePing();
    });
  }

  #ping(subscriber: WebSocket): void {
    if (this.#silent.has(subscriber)) {
      subscriber.terminate();
      return;
    }
    this.#silent.add(subscriber);
    subscriber.ping();
  }
}
