import type { WebSocket } from "ws";
import type { HeaderMap } from "../transport/index.js";

/** Where to connect to, and with what. */
export interface HintSocketRequest {
  readonly url: URL;
  readonly headers: HeaderMap;
  /** A longer frame ends the connection before it is read. */
  readonly maxFrameBytes: number;
}

/** Who is told of a connection: open, then frames and pongs, then close; or close alone. */
export interface HintSocketOwner {
  onOpen(): void;
  onFrame(frame: Uint8Array): void;
  /** A ping was answered. */
  onPong(): void;
  /** The connection is gone, or never came. `reason` is short and holds no text of the peer. Comes once, and last. */
  onClose(reason: string): void;
}

/** The hold on a connection. */
export interface HintSocket {
  ping(): void;
  /** Drops the connection at once. Nothing is told any more; resolves when nothing of it is left. */
  drop(): Promise<void>;
}

/** Begins a connection. Failures are told to the owner, never thrown, and nothing is told while this runs. */
export type OpenHintSocket = (request: HintSocketRequest, owner: HintSocketOwner) => HintSocket;

/** Connections by the `ws` package, which is loaded for the first of them. Follows no redirect, asks for no compression. */
export const openWebSocket: OpenHintSocket = (request, owner) => new LazyWebSocket(request, owner);

class LazyWebSocket implements HintSocket {
  readonly #owner: HintSocketOwner;
  readonly #opening: Promise<void>;
  #socket: WebSocket | undefined;
  #dropped = false;

  constructor(request: HintSocketRequest, owner: HintSocketOwner) {
    this.#owner = owner;
    this.#opening = this.#open(request);
  }

  ping(): void {
    const socket = this.#socket;
    if (socket !== undefined && socket.readyState === socket.OPEN) socket.ping();
  }

  async drop(): Promise<void> {
    this.#dropped = true;
    await this.#opening;
    const socket = this.#socket;
    if (socket === undefined || socket.readyState === socket.CLOSED) return;
    await new Promise<void>((resolve) => {
      socket.once("close", () => resolve());
      socket.terminate();
    });
  }

  /** Never rejects. */
  async #open({ url, headers, maxFrameBytes }: HintSocketRequest): Promise<void> {
    const tell = (event: () => void): void => {
      if (!this.#dropped) event();
    };
    try {
      const { WebSocket } = await import("ws");
      if (this.#dropped) return;
      const options = { headers, maxPayload: maxFrameBytes, perMessageDeflate: false, followRedirects: false };
      const socket = new WebSocket(url, options);
      this.#socket = socket;
      let failure: string | undefined;
      socket.on("open", () => tell(() => this.#owner.onOpen()));
      socket.on("message", (data) => tell(() => this.#owner.onFrame(bytesOf(data))));
      socket.on("pong", () => tell(() => this.#owner.onPong()));
      socket.on("unexpected-response", (_request, { statusCode }) => {
        failure = `status ${String(statusCode)}`;
        socket.terminate();
      });
      socket.on("error", (error) => (failure ??= reasonOf(error)));
      socket.on("close", (code) => tell(() => this.#owner.onClose(failure ?? `closed ${String(code)}`)));
    } catch (error) {
      tell(() => this.#owner.onClose(reasonOf(error)));
    }
  }
}

function bytesOf(data: Buffer | ArrayBuffer | Buffer[]): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}

function reasonOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "handshake failed";
}
