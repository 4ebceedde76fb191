import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { buildConnector } from "undici";
import type { Clock } from "./clock.js";
import type { ExchangeRequest } from "./exchange.js";
import { Http2Connection, type Http2Keeper } from "./http2-connection.js";
import { type DispatchEvents, Http2Request } from "./http2-request.js";

/** What dispatches over HTTP/1.1: a pool of undici's, or what stands for one. */
export interface PlainDispatcher {
  dispatch(request: ExchangeRequest, events: DispatchEvents): unknown;
  destroy(): Promise<unknown>;
}

export interface Http2DispatcherOptions {
  readonly origin: string;
  readonly maxConnections: number;
  /** How long requests wait for a connection that is being made, in milliseconds, before one of them has another made. */
  readonly patienceMs: number;
  readonly clock: Clock;
  /** Makes a connection that offers both versions. */
  readonly connect: buildConnector.connector;
  /** Called once, when the server has chosen HTTP/1.1 on a socket, which is to be used. */
  readonly openPlain: (socket: Socket) => PlainDispatcher;
}

/** A connection that is being made, until it takes streams. */
interface Attempt {
  readonly startedAt: number;
  connection?: Http2Connection;
}

/**
 * Dispatches over HTTP/2 where the server chooses it, else over HTTP/1.1.
 *
 * Requests share a connection as far as the server permits streams on it. A further connection is made when there is room on
 * none, so that a stream that stays open never stands in a call's way unless `maxConnections` is reached. While one is being
 * made, requests wait for it instead of making their own, unless it takes too long. What runs on a connection that the
 * server takes out of service goes on to its end; nothing is written twice.
 */
export class Http2Dispatcher implements Http2Keeper {
  readonly #options: Http2DispatcherOptions;
  /** Those that take streams, but for the ones on their way out. */
  readonly #connections = new Set<Http2Connection>();
  readonly #leaving = new Set<Http2Connection>();
  /** The latest; one before it that was too slow is used as well, should it come. */
  #attempt: Attempt | undefined;
  /** Attempts that have no socket yet, those that were too slow included. */
  #connecting = 0;
  readonly #waiting: Http2Request[] = [];
  #plain: PlainDispatcher | undefined;
  #isServing = false;
  #isDestroyed = false;

  constructor(options: Http2DispatcherOptions) {
    this.#options = options;
  }

  dispatch(request: ExchangeRequest, events: DispatchEvents): void {
    if (this.#plain !== undefined) {
      this.#plain.dispatch(request, events);
      return;
    }
    const own = new Http2Request(request, events);
    if (this.#isDestroyed) {
      own.fail(destroyedError());
      return;
    }
    this.#waiting.push(own);
    this.onRoom();
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true;
    for (const connection of [...this.#connections, ...this.#leaving]) connection.destroy();
    this.#failWaiting(destroyedError());
    await this.#plain?.destroy();
  }

  onRoom(): void {
    if (this.#attempt?.connection?.hasRoom === true) this.#attempt = undefined;
    // A request can be over at once, and make room. However many are, the stack must not grow with them.
    if (this.#isServing) return;
    this.#isServing = true;
    for (let to = this.#withRoom(); to !== undefined; to = this.#withRoom()) {
      const request = this.#waiting.shift();
      if (request === undefined) break;
      to.begin(request);
    }
    this.#isServing = false;
    this.#connectIfNeeded();
  }

  onLeaving(connection: Http2Connection): void {
    this.#connections.delete(connection);
    this.#leaving.add(connection);
    if (this.#attempt?.connection === connection) {
      this.#attempt = undefined;
      this.#failWaiting(new ClosedEarlyError());
    }
    this.onRoom();
  }

  onGone(connection: Http2Connection): void {
    this.#leaving.delete(connection);
    this.onRoom();
  }

  #withRoom(): Http2Connection | undefined {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    return undefined;
  }

  #connectIfNeeded(): void {
    if (this.#waiting.length === 0 || this.#isDestroyed) return;
    const { clock, maxConnections, patienceMs } = this.#options;
    const startedAt = clock.now();
    if (this.#attempt !== undefined && startedAt - this.#attempt.startedAt < patienceMs) return;
    if (this.#connections.size + this.#connecting >= maxConnections) return;
    const attempt: Attempt = { startedAt };
    this.#attempt = attempt;
    this.#connecting += 1;
    const { protocol, hostname, host, port } = new URL(this.#options.origin);
    const to = { protocol, hostname: hostname.replace(/^\[(.*)\]$/, "$1"), host, port };
    this.#options.connect(to, (error, socket) => {
      this.#connecting -= 1;
      if (error !== null) this.#giveUp(attempt, error);
      else if (this.#isDestroyed || this.#plain !== undefined) socket.destroy();
      else this.#use(socket, attempt);
    });
  }

  #giveUp(attempt: Attempt, error: Error): void {
    if (this.#attempt !== attempt) return;
    this.#attempt = undefined;
    this.#failWaiting(error);
  }

  #use(socket: Socket, attempt: Attempt): void {
    if (socket instanceof TLSSocket && socket.alpnProtocol === "h2") {
      attempt.connection = new Http2Connection(this.#options.origin, socket, this);
      this.#connections.add(attempt.connection);
      return;
    }
    this.#attempt = undefined;
    this.#plain = this.#options.openPlain(socket);
    for (const { request, events } of this.#waiting.splice(0)) this.#plain.dispatch(request, events);
  }

  #failWaiting(error: Error): void {
    for (const request of this.#waiting.splice(0)) request.fail(error);
  }
}

/** A connection that was made, and closed before it took a request. */
class ClosedEarlyError extends Error {
  readonly code = "ERR_CONNECTION_CLOSED";

  constructor() {
    super("The connection was closed before it could be used.");
  }
}

function destroyedError(): Error {
  return new Error("The exchange is destroyed.");
}
