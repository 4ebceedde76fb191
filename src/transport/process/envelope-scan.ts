import { isRequestId, type RequestId } from "../../protocol/index.js";

/** What can be told of a JSON-RPC message without keeping it. */
export interface Envelope {
  /** The message's own id, when it has a usable one. */
  readonly id: RequestId | undefined;
  /** Whether it has a `method`: then it is a request or a notification, and `id` is the peer's. */
  readonly hasMethod: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const SPACE = 0x20;

/** Names and ids longer than this are none of those that are looked for. */
const KEPT_BYTES = 256;

const decoder = new TextDecoder();

/**
 * Reads the outermost `id` and `method` of one JSON object that is too long to be kept, piece by piece, in constant
 * memory. What is no JSON yields no id, or a wrong one only where it looks like a whole message with that id.
 */
export class EnvelopeScan {
  /** How many brackets are open; the message's own members are at 1. */
  #depth = 0;
  /** Between the quotes of a string. */
  #inString = false;
  /** The byte before was a backslash inside a string, so that this one stands for itself. */
  #escaped = false;
  /** The bytes of the name or scalar at depth 1 that is being read; `undefined` after it grew too long to matter. */
  #token: number[] | undefined = [];
  /** The name whose value comes next; set by a colon at depth 1, cleared by a comma. */
  #name: string | undefined;
  #id: RequestId | undefined;
  #hasMethod = false;

  push(piece: Uint8Array): void {
    for (const byte of piece) this.#read(byte);
  }

  envelope(): Envelope {
    return { id: this.#id, hasMethod: this.#hasMethod };
  }

  #read(byte: number): void {
    if (this.#inString) {
      this.#keep(byte);
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inString = false;
      return;
    }
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        this.#keep(byte);
        return;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.#depth += 1;
        return;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.#depth === 1) this.#endMember();
        this.#depth -= 1;
        return;
      case COLON:
        if (this.#depth === 1) this.#endName();
        return;
      case COMMA:
        if (this.#depth === 1) this.#endMember();
        return;
      default:
        if (byte > SPACE) this.#keep(byte);
    }
  }

  #keep(byte: number): void {
    if (this.#depth !== 1 || this.#token === undefined) return;
    if (this.#token.length < KEPT_BYTES) this.#token.push(byte);
    else this.#token = undefined;
  }

  #endName(): void {
    const name = this.#takeToken();
    this.#name = typeof name === "string" ? name : undefined;
    if (this.#name === "method") this.#hasMethod = true;
  }

  #endMember(): void {
    const value = this.#takeToken();
    if (this.#name === "id") this.#id = isRequestId(value) ? value : undefined;
    this.#name = undefined;
  }

  /** The value of the scalar that was read; `undefined` for a container, and for what is no JSON. */
  #takeToken(): unknown {
    const token = this.#token;
    this.#token = [];
    if (token === undefined || token.length === 0) return undefined;
    try {
      return JSON.parse(decoder.decode(Uint8Array.from(token)));
    } catch {
      return undefined;
    }
  }
}
