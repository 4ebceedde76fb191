import { printableText } from "./printable-text.js";
import type { Redaction } from "./redaction.js";

export interface TailBufferOptions {
  /** How much is kept, in bytes, and the longest text that is given, in characters. */
  readonly capacityBytes: number;
  readonly redaction: Redaction;
}

/**
 * Keeps the end of a stream of bytes, for errors to show.
 *
 * The text has no control characters and no known secret, one that the cut at its start went through included. Memory
 * is bounded and taken when the first byte comes; time is linear. Pure: no IO.
 */
export class TailBuffer {
  readonly #capacity: number;
  readonly #redaction: Redaction;
  /** Bytes kept beyond the capacity, so that a secret at the cut is still whole, or lies in what is dropped. */
  readonly #margin: number;
  #bytes = new Uint8Array(0);
  #length = 0;
  #cut = false;

  constructor(options: TailBufferOptions) {
    this.#capacity = options.capacityBytes;
    this.#redaction = options.redaction;
    this.#margin = options.redaction.longestBytes;
  }

  push(chunk: Uint8Array): void {
    const kept = this.#capacity + this.#margin;
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(kept * 2);
    const piece = chunk.length > kept ? chunk.subarray(chunk.length - kept) : chunk;
    if (piece.length < chunk.length) this.#cut = true;
    if (this.#length + piece.length > this.#bytes.length) this.#moveToFront(kept);
    this.#bytes.set(piece, this.#length);
    this.#length += piece.length;
  }

  /** The end of what was pushed. */
  text(): string {
    const kept = this.#capacity + this.#margin;
    const start = Math.max(0, this.#length - kept);
    const cut = this.#cut || start > 0;
    const raw = new TextDecoder().decode(this.#bytes.subarray(start, this.#length));
    const redacted = this.#redaction.apply(raw);
    // What is left of a secret that the cut went through lies within the margin, at the very start.
    const whole = this.#redaction.apply(printableText(cut ? redacted.slice(this.#margin) : redacted));
    return whole.length > this.#capacity ? whole.slice(whole.length - this.#capacity) : whole;
  }

  #moveToFront(kept: number): void {
    const start = Math.max(0, this.#length - kept);
    this.#bytes.copyWithin(0, start, this.#length);
    this.#length -= start;
    if (start > 0) this.#cut = true;
  }
}
