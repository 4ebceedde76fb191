import { type ClientHttp2Session, connect } from "node:http2";
import type { Duplex } from "node:stream";
import type { Http2Carrier, Http2Request } from "./http2-request.js";
import { CONNECT_ATTEMPT_MS, IDLE_CONNECTION_MS } from "./connection-times.js";

/** Who keeps connections. */
export interface Http2Keeper {
  /** It is ready, or there is room for more streams. */
  onRoom(): void;
  /** It takes no more streams. Those that run may go on. */
  onLeaving(connection: Http2Connection): void;
  /** Nothing of it is left. */
  onGone(connection: Http2Connection): void;
}

/** How long the peer may take to answer a ping after a request was given up. */
const PONG_MS = 5_000;
/** How much of a stream, and of all streams of a connection, may be on the way. Node's own 64 KiB make large answers slow. */
const STREAM_WINDOW_BYTES = 256 * 1024;
const CONNECTION_WINDOW_BYTES = 512 * 1024;
/** What one connection may hold, in megabytes. Bodies have their own limits, and Node's 10 would refuse streams beside a large one. */
const SESSION_MEMORY_MB = 1_024;

/** One HTTP/2 connection: its streams, how many the peer permits, and when it is given up. */
export class Http2Connection implements Http2Carrier {
  readonly session: ClientHttp2Session;
  readonly authority: string;
  lastStreamId: number | undefined;
  readonly #keeper: Http2Keeper;
  readonly #requests = new Set<Http2Request>();
  /** Streams at once, as the peer permits them; 0 until it has said so. */
  #limit = 0;
  #isLeaving = false;
  #timer: NodeJS.Timeout | undefined;
  #pong: NodeJS.Timeout | undefined;

  constructor(origin: string, socket: Duplex, keeper: Http2Keeper) {
    this.#keeper = keeper;
    this.authority = new URL(origin).host;
    // Before Node's own, which closes streams without an error.
    socket.on("error", () => this.#cut());
    this.session = connect(origin, {
      createConnection: () => socket,
      maxSessionMemory: SESSION_MEMORY_MB,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    });
    this.session.on("connect", () => {
      // It is told of one that was destroyed before it began, too.
      if (!this.session.destroyed) this.session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    });
    this.session.on("remoteSettings", ({ maxConcurrentStreams }) => this.#onSettings(maxConcurrentStreams));
    this.session.on("goaway", (_code, lastStreamId) => this.#leave(lastStreamId));
    // Streams say what came of them.
    this.session.on("error", () => this.#leave());
    this.session.on("close", this.#onClose);
    this.#closeAfter(CONNECT_ATTEMPT_MS);
  }

  get hasRoom(): boolean {
    return !this.#isLeaving && !this.session.closed && !this.session.destroyed && this.#requests.size < this.#limit;
  }

  begin(request: Http2Request): void {
    this.#requests.add(request);
    clearTimeout(this.#timer);
    this.session.ref();
    if (!request.start(this)) this.onClosed(request);
  }

  onClosed(request: Http2Request): void {
    if (!this.#requests.delete(request)) return;
    if (this.#requests.size === 0) this.#idle();
    this.#keeper.onRoom();
  }

  /** A connection that died silently would cost every call its deadline. */
  onGivenUp(): void {
    if (this.#pong !== undefined || this.session.destroyed) return;
    this.#pong = setTimeout(() => this.#abandon(), PONG_MS).unref();
    const isAsked = this.session.ping(() => {
      clearTimeout(this.#pong);
      this.#pong = undefined;
    });
    if (!isAsked) this.#abandon();
  }

  onUsedUp(): void {
    this.#leave();
  }

  destroy(): void {
    this.#cut();
    this.session.destroy();
  }

  #onSettings(maxConcurrentStreams = Infinity): void {
    this.#limit = maxConcurrentStreams;
    if (this.#requests.size === 0) this.#idle();
    this.#keeper.onRoom();
  }

  #idle(): void {
    this.session.unref();
    if (!this.session.closed) this.#closeAfter(this.#isLeaving ? 0 : IDLE_CONNECTION_MS);
  }

  #closeAfter(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#abandon(), delayMs).unref();
  }

  #abandon(): void {
    this.#leave();
    this.destroy();
  }

  #cut(): void {
    for (const request of this.#requests) request.onCut();
  }

  #leave(lastStreamId?: number): void {
    if (lastStreamId !== undefined) this.lastStreamId = lastStreamId;
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#keeper.onLeaving(this);
  }

  readonly #onClose = (): void => {
    clearTimeout(this.#timer);
    clearTimeout(this.#pong);
    this.#leave();
    this.#keeper.onGone(this);
  };
}
