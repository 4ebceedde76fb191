import { EnvelopeScan, type Envelope } from "./envelope-scan.js";

/** One line of a peer's output. */
export type Line =
  | {
      readonly kind: "line";
      /** The line as it came, without its end and without a byte order mark. May share memory with the chunk it came in. */
      readonly bytes: Uint8Array;
      /** The bytes as UTF-8; what is none reads as U+FFFD. */
      readonly text: string;
      /** The output ended without an end of this line: it may be cut. */
      readonly unterminated: boolean;
    }
  /** A line beyond the limit. It was not kept; `envelope` is what could be told of it on the way. */
  | { readonly kind: "overlong"; readonly envelope: Envelope };

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Cuts bytes into lines, at any boundary of chunks, a character's bytes included.
 *
 * A line ends with LF; a CR before it and a byte order mark at its start are dropped, blank lines are skipped. Memory is
 * bounded by `maxLineBytes` (without the line's end), time is linear in the bytes. Pure: no IO.
 *
 * Source: 2025-11-25, Transports, stdio.
 */
export class LineFramer {
  readonly #maxLineBytes: number;
  /** The pieces of the line that has not ended yet; empty while it is too long. */
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** Set once the line has passed the limit, until it ends. */
  #overlong: EnvelopeScan | undefined;

  constructor(options: { readonly maxLineBytes: number }) {
    this.#maxLineBytes = options.maxLineBytes;
  }

  /** Takes the next bytes; the lines that end in them, in order. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#append(chunk.subarray(start, end));
      this.#finish(lines, false);
      start = end + 1;
    }
    if (start < chunk.length) this.#append(chunk.subarray(start));
    return lines;
  }

  /** Ends the input; what came after the last line's end, if anything. */
  end(): Line[] {
    const lines: Line[] = [];
    this.#finish(lines, true);
    return lines;
  }

  #append(piece: Uint8Array): void {
    if (this.#overlong !== undefined) {
      this.#overlong.push(piece);
      return;
    }
    this.#pieces.push(piece);
    this.#length += piece.length;
    // A CR and a byte order mark don't count; whether they are there is known only when the line is whole.
    if (this.#length > this.#maxLineBytes + BYTE_ORDER_MARK.length + 1) this.#giveUp();
  }

  #finish(lines: Line[], unterminated: boolean): void {
    const bytes = this.#overlong === undefined ? trim(join(this.#pieces, this.#length)) : undefined;
    if (bytes !== undefined && bytes.length > this.#maxLineBytes) this.#giveUp();
    if (this.#overlong !== undefined) {
      lines.push({ kind: "overlong", envelope: this.#overlong.envelope() });
    } else if (bytes !== undefined) {
      const text = decoder.decode(bytes);
      if (text.trim() !== "") lines.push({ kind: "line", bytes, text, unterminated });
    }
    this.#pieces = [];
    this.#length = 0;
    this.#overlong = undefined;
  }

  #giveUp(): void {
    this.#overlong = new EnvelopeScan();
    for (const piece of this.#pieces) this.#overlong.push(piece);
    this.#pieces = [];
  }
}

function join(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const [first, second] = pieces;
  if (first !== undefined && second === undefined) return first;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function trim(line: Uint8Array): Uint8Array {
  const start = BYTE_ORDER_MARK.every((byte, index) => line[index] === byte) ? BYTE_ORDER_MARK.length : 0;
  const end = line.length > start && line[line.length - 1] === CARRIAGE_RETURN ? line.length - 1 : line.length;
  return line.subarray(start, end);
}
