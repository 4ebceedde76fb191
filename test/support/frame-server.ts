import { once } from "node:events";
import type { Socket } from "node:net";
import { createServer, type Server } from "node:tls";
import { SERVER_CERTIFICATE, SERVER_KEY } from "./certificates.js";

/** Frame types. RFC 9113, Frame Definitions. */
export const DATA = 0;
export const HEADERS = 1;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;

/** Frame flags. */
export const END_STREAM = 1;
const ACK = 1;
export const END_HEADERS = 4;

const PREFACE_BYTES = 24;
const HEAD_BYTES = 9;

/** A frame as its bytes say. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** A request whose last byte has come. */
export interface FramedRequest {
  readonly stream: number;
  /** Of the JSON-RPC request in the body. */
  readonly id: number;
  readonly body: string;
  readonly connection: FrameConnection;
  /** Counts from 1, over all connections. */
  readonly turn: number;
}

export interface FrameServerOptions {
  /** What is done with a request: whatever frames it likes. */
  readonly answer: (request: FramedRequest) => void;
  /** Told of every frame that comes. */
  readonly onFrame?: (frame: Frame, connection: FrameConnection) => void;
  /** The payload of the first SETTINGS. Default empty. */
  readonly settings?: Buffer;
  readonly host?: string;
}

/** One connection of a {@link FrameServer}. */
export class FrameConnection {
  readonly socket: Socket;
  readonly #reset: () => void;

  constructor(socket: Socket, reset: () => void) {
    this.socket = socket;
    this.#reset = reset;
  }

  /** Ends the connection beneath TLS, by RST. */
  reset(): void {
    this.#reset();
  }

  /** Frames that are written together come together, as far as they fit into a packet. */
  send(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }
}

/** A server that speaks HTTP/2 frame by frame, so that a test decides about every one of them. */
export class FrameServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly requests: FramedRequest[] = [];
  connections = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(options: FrameServerOptions): Promise<FrameServer> {
    const server = createServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY, ALPNProtocols: ["h2"] });
    const made = new FrameServer(server);
    const beneath = new Map<number | undefined, Socket>();
    server.on("connection", (socket: Socket) => beneath.set(socket.remotePort, socket));
    server.on("secureConnection", (socket) => {
      const raw = beneath.get(socket.remotePort);
      made.#serve(socket, options, () => raw?.resetAndDestroy());
    });
    server.listen(0, options.host ?? "127.0.0.1");
    await once(server, "listening");
    return made;
  }

  get url(): string {
    const address = this.#server.address();
    const { port, family } = typeof address === "object" && address !== null ? address : { port: 0, family: "" };
    return `https://${family === "IPv6" ? "[::1]" : "127.0.0.1"}:${String(port)}/mcp`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #serve(socket: Socket, { answer, onFrame, settings = Buffer.alloc(0) }: FrameServerOptions, reset: () => void): void {
    this.connections += 1;
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.setNoDelay(true);
    const connection = new FrameConnection(socket, reset);
    connection.send(frame(SETTINGS, 0, 0, settings));
    const bodies = new Map<number, string>();
    let buffered = Buffer.alloc(0);
    let isPrefaced = false;
    socket.on("data", (chunk) => {
      buffered = Buffer.concat([buffered, chunk]);
      if (!isPrefaced) {
        if (buffered.length < PREFACE_BYTES) return;
        buffered = buffered.subarray(PREFACE_BYTES);
        isPrefaced = true;
      }
      for (let next = take(buffered); next !== undefined; next = take(buffered)) {
        buffered = buffered.subarray(HEAD_BYTES + next.payload.length);
        onFrame?.(next, connection);
        if (next.type === SETTINGS && (next.flags & ACK) === 0) connection.send(frame(SETTINGS, ACK, 0));
        if (next.type !== DATA) continue;
        const body = (bodies.get(next.stream) ?? "") + next.payload.toString();
        bodies.set(next.stream, body);
        if ((next.flags & END_STREAM) === 0) continue;
        const { id }: { readonly id: number } = JSON.parse(body);
        const request = { stream: next.stream, id, body, connection, turn: this.requests.length + 1 };
        this.requests.push(request);
        answer(request);
      }
    });
  }
}

function take(bytes: Buffer): Frame | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const length = bytes.readUIntBE(0, 3);
  if (bytes.length < HEAD_BYTES + length) return undefined;
  const payload = bytes.subarray(HEAD_BYTES, HEAD_BYTES + length);
  return { type: bytes.readUInt8(3), flags: bytes.readUInt8(4), stream: bytes.readUInt32BE(5), payload };
}

/** A frame's bytes. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array | string = ""): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(body.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** Header fields, each as a literal that is not indexed. RFC 7541, 6.2.2. */
export function fields(headers: Readonly<Record<string, string>>): Buffer {
  const text = (value: string): Buffer => {
    const length = value.length < 127 ? [value.length] : [127, ...continued(value.length - 127)];
    return Buffer.concat([Buffer.from(length), Buffer.from(value)]);
  };
  return Buffer.concat(Object.entries(headers).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

function continued(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...continued(Math.floor(value / 128))];
}

/** 32-bit numbers, as RST_STREAM and GOAWAY have them. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

/** The frames of a whole answer to a call. */
export function resultFrames({ stream, id }: FramedRequest): Buffer {
  const body = JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } });
  const head = fields({ ":status": "200", "content-type": "application/json" });
  return Buffer.concat([frame(HEADERS, END_HEADERS, stream, head), frame(DATA, END_STREAM, stream, body)]);
}
