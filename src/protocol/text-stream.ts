/** Decodes a whole text: much cheaper than a decoder that must remember. */
const WHOLE = new TextDecoder("utf-8", { ignoreBOM: true });

const BYTE_ORDER_MARK = 0xfeff;

/**
 * Decodes UTF-8 piece by piece, as a `TextDecoder` does with `stream`: a leading byte order mark is dropped, what is no UTF-8
 * becomes U+FFFD, and a character that two pieces share is whole.
 *
 * Nearly every piece ends in ASCII, and so leaves nothing to remember. A decoder that can is made for the first one that does
 * not. The mark is dropped here, since decoders of Node 24 drop a second one too when the first comes in pieces.
 */
export class TextStream {
  #began = false;
  #decoder: InstanceType<typeof TextDecoder> | undefined;

  decode(bytes: Uint8Array): string {
    const last = bytes.at(-1);
    if (last === undefined) return "";
    if (this.#decoder === undefined && last < 0x80) return this.#withoutMark(WHOLE.decode(bytes));
    this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
    return this.#withoutMark(this.#decoder.decode(bytes, { stream: true }));
  }

  /** What an unfinished character at the end reads as. */
  end(): string {
    return this.#withoutMark(this.#decoder?.decode() ?? "");
  }

  #withoutMark(text: string): string {
    if (this.#began || text === "") return text;
    this.#began = true;
    return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
  }
}
