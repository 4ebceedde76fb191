import { chmod } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { ListenOptions as ListenPlace } from "node:net";
import type { Duplex } from "node:stream";
import { RemoteConnectorError } from "../errors.js";
import { RpcCode } from "../protocol/index.js";
import { removeDeadSocket } from "./dead-socket.js";
import { sendRefusal } from "./json-response.js";
import { type ListenConfig, type ListenOptions, resolveListenOptions } from "./listen-options.js";
import { refuse } from "./refusal.js";

/** Answers one request. When it throws or rejects, the caller gets 500, or a cut answer if one had begun. */
export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** A server that listens. */
export interface HttpListener {
  readonly host: string;
  readonly port: number;
  /** `http://127.0.0.1:1234`, without a path; `http://localhost` on a Unix socket. */
  readonly origin: string;
  /**
   * Stops listening, ends connections on which no request is under way, taken-over ones included, waits `closeTimeoutMs` for
   * the answers to the others, and cuts what is left. Afterwards nothing of the server is left. May be called again, also with
   * another `closeTimeoutMs`, from then on: the one that ends first counts.
   */
  close(closeTimeoutMs?: number): Promise<void>;
}

/**
 * Listens for HTTP requests, on loopback when no host is given.
 *
 * Rejects with `listen_failed` when the address is taken, not permitted or not of this machine (`reason` is the
 * system's code), and with `invalid_options` for an unknown option or a number out of range.
 */
export async function listen(handler: HttpHandler, options: ListenOptions = {}): Promise<HttpListener> {
  const listener = new NodeListener(handler, resolveListenOptions(options));
  await listener.bind();
  return listener;
}

class NodeListener implements HttpListener {
  readonly host: string;
  readonly #config: ListenConfig;
  readonly #handler: HttpHandler;
  readonly #server: Server;
  #port: number;
  /**
   * Every connection, with the requests that are under way on it: those on which none is end with the server. Node ends
   * neither those that were taken over nor, in some versions, those that never sent a request, which clients open as spares.
   */
  readonly #connections = new Map<Duplex, number>();
  /** Set by the first `close`; every later one gets the same end. */
  #closing: Promise<void> | undefined;
  #isClosed = false;
  /** Timers that cut what is left. */
  readonly #cuts: NodeJS.Timeout[] = [];

  constructor(handler: HttpHandler, config: ListenConfig) {
    this.host = config.host;
    this.#port = config.port;
    this.#config = config;
    this.#handler = handler;
    this.#server = createServer({
      headersTimeout: nodeTimeout(config.headersTimeoutMs),
      requestTimeout: nodeTimeout(config.requestTimeoutMs),
      keepAliveTimeout: nodeTimeout(config.keepAliveTimeoutMs),
      // Node looks for late requests only this often, and by default every 30 seconds.
      connectionsCheckingInterval: Math.ceil(Math.min(1_000, config.headersTimeoutMs)),
    });
    this.#server.on("connection", (socket) => {
      this.#connections.set(socket, 0);
      socket.once("close", () => this.#connections.delete(socket));
    });
    this.#server.on("request", (request, response) => void this.#answer(request, response));
    const { onUpgrade } = config;
    if (onUpgrade === undefined) return;
    this.#server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Node listens to it no more, and a broken connection must not end the process.
      socket.on("error", () => socket.destroy());
      try {
        onUpgrade(request, socket, head);
      } catch (error) {
        socket.destroy();
        this.#config.onFault(error);
      }
    });
  }

  /** The configured port until the server is bound. Stays known after the end. */
  get port(): number {
    return this.#port;
  }

  get origin(): string {
    if (this.#config.socketPath !== undefined) return "http://localhost";
    const name = this.host.includes(":") ? `[${this.host}]` : this.host;
    return `http://${name}:${String(this.port)}`;
  }

  async bind(): Promise<void> {
    const { host, port, socketPath } = this.#config;
    if (socketPath === undefined) return this.#listen({ host, port });
    await removeDeadSocket(socketPath);
    await this.#listen({ path: socketPath });
    // Whoever made it broader by a umask of nothing meant files. A named pipe of Windows is none.
    if (socketPath.startsWith(PIPES)) return;
    try {
      await chmod(socketPath, 0o600);
    } catch (error) {
      await this.close();
      throw error instanceof Error ? listenFailed(this.#config, error) : error;
    }
  }

  #listen(place: ListenPlace): Promise<void> {
    return new Promise((resolve, reject) => {
      const onError = (error: NodeJS.ErrnoException): void => reject(listenFailed(this.#config, error));
      this.#server.once("error", onError);
      this.#server.listen(place, () => {
        this.#server.off("error", onError);
        // A connection that can't be accepted must not end the process.
        this.#server.on("error", this.#config.onFault);
        const address = this.#server.address();
        if (typeof address === "object" && address !== null) this.#port = address.port;
        resolve();
      });
    });
  }

  close(closeTimeoutMs = this.#config.closeTimeoutMs): Promise<void> {
    this.#closing ??= this.#shutDown();
    if (closeTimeoutMs !== Infinity) this.#cutAfter(closeTimeoutMs);
    return this.#closing;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    this.#count(socket, 1);
    // It comes once. `once` would wrap the listener.
    response.on("close", () => {
      // Ending a connection while a body is on its way would take the answer from a caller who has not read it yet.
      if (request.complete) this.#count(socket, -1);
      else request.once("close", () => this.#count(socket, -1));
    });
    try {
      await this.#handler(request, response);
    } catch (error) {
      this.#config.onFault(error);
      if (response.headersSent) response.destroy();
      else sendRefusal(response, refuse(500, undefined, RpcCode.internalError, "Internal error"));
    }
  }

  /** Notes that a request began or ended. The last one of a connection takes it along once the server closes. */
  #count(socket: Duplex, change: 1 | -1): void {
    const before = this.#connections.get(socket);
    if (before === undefined) return;
    this.#connections.set(socket, before + change);
    if (this.#closing !== undefined) this.#endQuiet();
  }

  #endQuiet(): void {
    for (const [socket, requests] of this.#connections) if (requests === 0) socket.destroy();
  }

  async #shutDown(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#endQuiet();
    await closed;
    this.#isClosed = true;
    for (const timer of this.#cuts) clearTimeout(timer);
  }

  #cutAfter(delayMs: number): void {
    if (this.#isClosed) return;
    const cut = (): void => {
      for (const socket of this.#connections.keys()) socket.destroy();
    };
    this.#cuts.push(setTimeout(cut, Math.min(delayMs, LONGEST_TIMER_MS)));
  }
}

/** Where Windows has its named pipes. */
const PIPES = "\\\\.\\pipe\\";

/** Node's longest timer; a longer delay would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Node takes whole milliseconds, and 0 for no deadline. */
function nodeTimeout(ms: number): number {
  return ms === Infinity ? 0 : Math.ceil(ms);
}

function listenFailed(config: ListenConfig, error: NodeJS.ErrnoException): RemoteConnectorError<"listen_failed"> {
  const address = config.socketPath ?? `${config.host}:${String(config.port)}`;
  const reason = error.code ?? "unknown";
  return new RemoteConnectorError("listen_failed", {
    message: `Can't listen on ${address}: ${reason}.`,
    details: { address, reason },
    cause: error,
  });
}
