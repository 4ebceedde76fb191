import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type Gunzip,
} from "node:zlib";
import type { ResponseHeaders } from "./exchange.js";

export type ContentCoding = "br" | "deflate" | "gzip";

const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ["br", "br"],
  ["deflate", "deflate"],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
]);

/** The one coding that an answer's body has, if it is one that can be undone. Pure and total. */
export function contentCodingOf(headers: ResponseHeaders): ContentCoding | undefined {
  const value = headers["content-encoding"];
  return typeof value === "string" ? CODINGS.get(value.trim().toLowerCase()) : undefined;
}

/** Who is told of what a {@link ContentDecoder} makes of the bytes. After one of the last two, nothing more comes. */
export interface ContentDecoderOwner {
  onDecoded(chunk: Uint8Array): void;
  /** There is room again, after `push` said that there was none. */
  onRoom(): void;
  onDecodedEnd(): void;
  /** The bytes are not what the coding says, or their end is missing. */
  onDecodeFailure(error: Error): void;
}

/**
 * Undoes the content coding of one answer, in small pieces and off the main thread, so that limits can be counted
 * afterwards: a few compressed bytes can become any number.
 */
export class ContentDecoder {
  readonly #coding: ContentCoding;
  readonly #owner: ContentDecoderOwner;
  #stream: BrotliDecompress | Gunzip | undefined;
  /** Pieces that are not decoded yet. */
  #pending = 0;
  #afterLast: (() => void) | undefined;
  #isOver = false;

  constructor(coding: ContentCoding, owner: ContentDecoderOwner) {
    this.#coding = coding;
    this.#owner = owner;
  }

  /** Takes the next bytes. Whether there is room for more. */
  push(chunk: Uint8Array): boolean {
    if (this.#isOver || chunk.length === 0) return true;
    this.#stream ??= this.#open(chunk);
    this.#pending += 1;
    return this.#stream.write(chunk, this.#onWritten);
  }

  /** No more bytes come. `onDecodedEnd` follows, or `onDecodeFailure` when there should have been more. */
  end(): void {
    if (this.#isOver) return;
    if (this.#stream !== undefined) this.#stream.end();
    else queueMicrotask(() => this.#finish(() => this.#owner.onDecodedEnd()));
  }

  /** No more bytes come, though they should. Calls `then` when everything that came is decoded, and nothing after it. */
  cut(then: () => void): void {
    this.#afterLast = then;
    if (this.#pending === 0) this.#finish(then);
  }

  /** Holds back what is decoded, and decodes no more than a little, until `resume`. */
  pause(): void {
    this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }

  /** Gives up what is not decoded yet. Nothing is told any more. Idempotent. */
  destroy(): void {
    this.#finish(() => undefined);
  }

  #open(first: Uint8Array): BrotliDecompress | Gunzip {
    const stream = createStream(this.#coding, first);
    stream.on("data", (chunk: Uint8Array) => {
      if (!this.#isOver) this.#owner.onDecoded(chunk);
    });
    stream.on("drain", () => {
      if (!this.#isOver) this.#owner.onRoom();
    });
    stream.on("end", () => this.#finish(() => this.#owner.onDecodedEnd()));
    stream.on("error", (error) => this.#finish(this.#afterLast ?? (() => this.#owner.onDecodeFailure(error))));
    return stream;
  }

  readonly #onWritten = (): void => {
    this.#pending -= 1;
    if (this.#pending === 0 && this.#afterLast !== undefined) this.#finish(this.#afterLast);
  };

  #finish(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream?.destroy();
    tell();
  }
}

function createStream(coding: ContentCoding, first: Uint8Array): BrotliDecompress | Gunzip {
  if (coding === "br") return createBrotliDecompress();
  if (coding === "gzip") return createGunzip();
  // Some servers leave out the zlib header that "deflate" means. Its first byte ends with 8.
  return ((first[0] ?? 0) & 0x0f) === 0x08 ? createInflate() : createInflateRaw();
}
