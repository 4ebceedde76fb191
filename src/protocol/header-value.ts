import { RemoteConnectorError } from "../errors.js";

const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/;
const LOOKS_LIKE_SENTINEL = /^=\?base64\?(?:.*\?)?=$/is;
const SENTINEL = /^=\?base64\?(?:(.*)\?)?=$/s;
/** Base64, when its length is a multiple of four too. Flat, since a repeated group overflows the stack on long input. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const HEADER_TEXT = /^[\t -~]*$/;
const LONE_SURROGATE = /[\ud800-\udfff]/u;

/**
 * The form in which a value travels in `Mcp-Name` and `Mcp-Param-*`.
 *
 * Printable ASCII without spaces at its ends travels as it is. Everything else, the empty string and what looks like the
 * Base64 sentinel itself included, travels as `=?base64?…?=` around the Base64 of its UTF-8 bytes.
 *
 * Throws `invalid_argument` (`not_sent`) for a string with a lone surrogate: it has no UTF-8 form.
 * Source: 2026-07-28, Streamable HTTP, Value Encoding.
 */
export function encodeHeaderValue(value: string): string {
  if (PLAIN.test(value) && !LOOKS_LIKE_SENTINEL.test(value)) return value;
  if (LONE_SURROGATE.test(value)) {
    throw new RemoteConnectorError("invalid_argument", {
      message: "A header value holds a lone surrogate, which has no UTF-8 form.",
      details: { argument: "header value", reason: "lone surrogate" },
    });
  }
  return `=?base64?${base64OfUtf8(value)}?=`;
}

/**
 * The value that a header stands for: the decoded text of a sentinel, else the header's own text.
 *
 * `undefined` when it stands for nothing: Base64 or UTF-8 that is malformed, `=?base64?=` whose markers share their `?`, or
 * characters that a header may not hold. The markers count only in lower case. Source: 2026-07-28, Streamable HTTP, Value Encoding and Server Validation.
 */
export function decodeHeaderValue(header: string): string | undefined {
  const sentinel = SENTINEL.exec(header);
  if (sentinel === null) return HEADER_TEXT.test(header) ? header : undefined;
  const encoded = sentinel[1];
  if (encoded === undefined || encoded.length % 4 !== 0 || !BASE64.test(encoded)) return undefined;
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function base64OfUtf8(value: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(value)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
