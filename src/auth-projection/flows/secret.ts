import { isUtf8 } from "node:buffer";
import { RemoteConnectorError } from "../../errors.js";

const MAX_SECRET_BYTES = 16_384;
/** Half of a surrogate pair, which has no UTF-8. */
const HALF = /\p{Surrogate}/u;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX = new TextEncoder().encode("0123456789abcdef");
const HEAD = new TextEncoder().encode('{"secret":{"secret":"');
const TAIL = new TextEncoder().encode('"}}');

/** A secret in memory, from when it is given until it is not needed any more. Never a text, which could not be wiped. */
export class HeldSecret {
  readonly #bytes: Uint8Array;

  /** Takes the bytes over. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  /** Overwrites it. Idempotent. */
  wipe(): void {
    this.#bytes.fill(0);
  }
}

/**
 * Takes a secret over: its bytes are copied, and the caller's are overwritten, also when it is refused. A text stays in memory
 * until the engine lets go of it. Throws `invalid_argument` for fewer than 1 or more than 16,384 bytes, and for bytes that are
 * no UTF-8, or a text that has none.
 */
export function takeSecret(given: Uint8Array | string): HeldSecret {
  const bytes = typeof given === "string" ? new TextEncoder().encode(given) : Uint8Array.from(given);
  if (typeof given !== "string") given.fill(0);
  const reason =
    bytes.length < 1 || bytes.length > MAX_SECRET_BYTES
      ? `is not of 1 to ${String(MAX_SECRET_BYTES)} bytes`
      : isUtf8(bytes) && !(typeof given === "string" && HALF.test(given))
        ? undefined
        : "is no UTF-8";
  if (reason === undefined) return new HeldSecret(bytes);
  bytes.fill(0);
  throw new RemoteConnectorError("invalid_argument", {
    message: `The secret can't be used: it ${reason}.`,
    details: { argument: "secret", reason },
  });
}

/** `{"secret":{"secret":"…"}}` in UTF-8, made without a text or a copy in between. Whoever sends it wipes it. */
export function encodeSecretBody(secret: Uint8Array): Uint8Array<ArrayBuffer> {
  let length = HEAD.length + TAIL.length;
  for (const byte of secret) length += byte === QUOTE || byte === BACKSLASH ? 2 : byte < 0x20 ? 6 : 1;
  const body = new Uint8Array(length);
  body.set(HEAD);
  let at = HEAD.length;
  for (const byte of secret) {
    if (byte === QUOTE || byte === BACKSLASH) {
      body[at++] = BACKSLASH;
      body[at++] = byte;
    } else if (byte < 0x20) {
      // JSON's own form for control characters.
      body.set([BACKSLASH, 0x75, 0x30, 0x30, HEX[byte >> 4] ?? 0, HEX[byte & 15] ?? 0], at);
      at += 6;
    } else body[at++] = byte;
  }
  body.set(TAIL, at);
  return body;
}
