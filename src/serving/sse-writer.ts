import type { ServerResponse } from "node:http";

export interface SseWriterOptions {
  /** Unsent bytes beyond which a notification is dropped and the stream of a reader that does not read is cut. */
  readonly maxBufferedBytes: number;
}

export interface SseMessageOptions {
  readonly droppable?: boolean | undefined;
  readonly id?: string | undefined;
}

/** What became of a message. `cut`: too much was unsent, so that the connection was ended. */
export type SseOutcome = "sent" | "dropped" | "cut" | "closed";

/**
 * Writes one answer as a stream of server-sent events, one JSON-RPC message each, in the order of the calls.
 *
 * What the reader has not taken yet is bounded: beyond `maxBufferedBytes` a droppable message is dropped, and any other
 * ends the connection. The message that is being written comes on top, whatever its size.
 * Source: 2026-07-28, Streamable HTTP, Receiving Messages; HTML Standard, Server-sent events.
 */
export class SseWriter {
  readonly #response: ServerResponse;
  readonly #maxBufferedBytes: number;

  /** Sends the head of the answer at once, so that the caller sees that the request is being worked on. */
  constructor(response: ServerResponse, options: SseWriterOptions) {
    this.#response = response;
    this.#maxBufferedBytes = options.maxBufferedBytes;
    if (response.headersSent || response.destroyed) return;
    response.writeHead(200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store",
      "X-Accel-Buffering": "no",
      "X-Content-Type-Options": "nosniff",
    });
    response.flushHeaders();
  }

  /** Whether nothing can be written any more: the stream was ended, cut, or left by its reader. */
  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  /** Bytes that the reader has not taken yet. */
  get unsentBytes(): number {
    return this.#response.writableLength;
  }

  /**
   * Sends one message. Say `droppable` of a notification that the caller can do without. With an `id`, which must have no
   * line breaks, the reader can say later how far it came.
   */
  send(message: string | Uint8Array, options: SseMessageOptions = {}): SseOutcome {
    if (this.closed) return "closed";
    if (this.#response.writableLength > this.#maxBufferedBytes) {
      if (options.droppable === true) return "dropped";
      this.#response.destroy();
      return "cut";
    }
    this.#response.write(encodeEvent(message, options.id));
    return "sent";
  }

  /**
   * Sends an event without a message, which lets the reader come back to this place, `retryMs` after it lost the stream.
   * Source: 2025-11-25, Transports, Sending Messages to the Server.
   */
  prime(id: string, retryMs: number): void {
    if (!this.closed) this.#response.write(`id: ${id}\nretry: ${String(Math.ceil(retryMs))}\ndata: \n\n`);
  }

  /** A comment, which readers ignore: it keeps the connection from looking idle. Left out while bytes wait anyway. */
  keepAlive(): void {
    if (!this.closed && this.#response.writableLength === 0) this.#response.write(":\n\n");
  }

  /** Ends the stream after all that was sent. */
  end(): void {
    if (!this.closed) this.#response.end();
  }
}

/**
 * One event around a JSON text. Line breaks, which JSON allows between tokens, become one `data` field each; a reader
 * joins them with LF, which leaves the JSON what it was.
 */
export function encodeEvent(message: string | Uint8Array, id?: string): Uint8Array {
  const bytes = typeof message === "string" ? Buffer.from(message, "utf8") : viewOf(message);
  const pieces: Uint8Array[] = id === undefined ? [DATA] : [Buffer.from(`id: ${id}\n`), DATA];
  if (!bytes.includes(LF) && !bytes.includes(CR)) {
    // Nearly all messages: a search of this kind takes a fiftieth of the time of the loop below.
    pieces.push(bytes, END);
    return Buffer.concat(pieces);
  }
  let start = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== LF && bytes[at] !== CR) continue;
    pieces.push(bytes.subarray(start, at), NEXT_DATA);
    if (bytes[at] === CR && bytes[at + 1] === LF) at += 1;
    start = at + 1;
  }
  pieces.push(bytes.subarray(start), END);
  return Buffer.concat(pieces);
}

/** The same bytes as a `Buffer`, whose searches are native. */
function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const LF = 0x0a;
const CR = 0x0d;
const DATA = Buffer.from("data: ");
const NEXT_DATA = Buffer.from("\ndata: ");
const END = Buffer.from("\n\n");
