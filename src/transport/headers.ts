import { RemoteConnectorError } from "../errors.js";

/** Headers by name, as callers and authorizers give them. */
export type HeaderMap = Readonly<Record<string, string>>;

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that describe the message or the connection, and are therefore ours or the HTTP library's alone. */
const RESERVED = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Checks headers that a caller configured or an authorizer gave, and adds them to a flat list, in the place of those that
 * have the same name there.
 *
 * Throws `invalid_header` (`not_sent`) for a name that is no token, a reserved name (message and connection headers,
 * `Mcp-*`), or a value that can't be sent. The value is never shown.
 */
export function addHeaders(list: string[], headers: HeaderMap): void {
  for (const [header, value] of Object.entries(headers)) {
    if (!TOKEN.test(header))
      refuse(`${/^[!#$%&'*+.^_`|~0-9A-Za-z-]{0,64}/.exec(header)?.[0] ?? ""}…`, "not an HTTP token");
    const lower = header.toLowerCase();
    if (RESERVED.has(lower) || lower.startsWith("mcp-")) refuse(header, "reserved");
    if (typeof value !== "string" || !VALUE.test(value)) refuse(header, "a value that can't be sent");
    const place = placeOf(lower, list);
    if (place === -1) list.push(header, value);
    else list[place + 1] = value;
  }
}

/** Adds the type of a body to a flat list. Throws `invalid_header` (`not_sent`) for a value that can't be sent. */
export function addContentType(list: string[], contentType: string): void {
  if (contentType === "" || !VALUE.test(contentType)) refuse("Content-Type", "a value that can't be sent");
  list.push("Content-Type", contentType);
}

function placeOf(lower: string, list: readonly string[]): number {
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at];
    if (name?.length === lower.length && name.toLowerCase() === lower) return at;
  }
  return -1;
}

/** Throws `invalid_header` (`not_sent`) when a request that has a cookie jar is given a `Cookie` header as well. */
export function refuseCookie(headers: Readonly<Record<string, unknown>>): void {
  const header = Object.keys(headers).find((name) => name.toLowerCase() === "cookie");
  if (header !== undefined) refuse(header, "the option cookies keeps cookies, and excludes it");
}

function refuse(header: string, reason: string): never {
  throw new RemoteConnectorError("invalid_header", {
    message: `The header ${header} is refused: ${reason}.`,
    details: { header, reason },
  });
}
