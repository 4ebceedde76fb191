/** Decodes a whole text: much cheaper than a decoder that must remember. The first one drops a leading byte order mark. */
const FIRST = new TextDecoder("utf-8");
const LATER = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Decodes UTF-8 piece by piece, as a `TextDecoder` does with `stream`: a leading byte order mark is dropped, what is no UTF-8
 * becomes U+FFFD, and a character that two pieces share is whole.
 *
 * Nearly every piece ends in ASCII, and so leaves nothing to remember. A decoder that can is made for the first one that does not.
 */
export class TextStream {
  #began = false;
  #decoder: InstanceType<typeof TextDecoder> | undefined;

  decode(bytes: Uint8Array): string {
    const last = bytes.at(-1);
    if (last === undefined) return "";
    if (this.#decoder === undefined && last < 0x80) {
      const text = (this.#began ? LATER : FIRST).decode(bytes);
      this.#began = true;
      return text;
    }
    this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: this.#began });
    return this.#decoder.decode(bytes, { stream: true });
  }

  /** What an unfinished character at the end reads as. */
  end(): string {
    return this.#decoder?.decode() ?? "";
  }
}
