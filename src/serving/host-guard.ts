import { headerValue, type HeaderFields } from "./header-fields.js";

/** What a loopback server thinks of where a request comes from. */
export type HostVerdict =
  | { readonly kind: "allowed" }
  | { readonly kind: "refused"; readonly header: "Host" | "Origin" };

/**
 * Guards a server on loopback against DNS rebinding: a page whose name was made to resolve to this machine still sends
 * its own name in `Host` and `Origin`. Refused ones get 403. Pure.
 *
 * `Host` must name loopback, with any port, or be one of `allowedHosts`, which are in lower case: those that a proxy in front of
 * the server is reached by. `Origin` may be absent (programs send none), name loopback, or be one of
 * `allowedOrigins`, written as browsers write them. `null` is refused: any sandboxed frame sends it.
 *
 * Source: 2026-07-28, Streamable HTTP, Security & Endpoint.
 */
export function checkLoopbackHost(
  headers: HeaderFields,
  allowedOrigins: readonly string[] = [],
  allowedHosts: readonly string[] = [],
): HostVerdict {
  const host = headerValue(headers, "host");
  const isOurs = host !== undefined && (isLoopbackHost(host) || allowedHosts.includes(host.toLowerCase()));
  if (!isOurs) return { kind: "refused", header: "Host" };
  const origin = headerValue(headers, "origin");
  if (origin === undefined || allowedOrigins.includes(origin) || isLoopbackOrigin(origin)) return { kind: "allowed" };
  return { kind: "refused", header: "Origin" };
}

/** `localhost`, an address in 127.0.0.0/8 or `[::1]`, with or without a port. */
function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(host);
}

function isLoopbackOrigin(origin: string): boolean {
  const match = /^https?:\/\/(.*)$/i.exec(origin);
  return match?.[1] !== undefined && isLoopbackHost(match[1]);
}
