import { isLoopback } from "../../transport/index.js";

/** Dots as path segments, in percent form as well: whoever reads the URL takes them out. */
const DOT_SEGMENT = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;
/** Printable, so that nobody who reads the URL takes anything out of it or turns a `\` round. */
const PLAIN_HTTPS = /^https:\/\/[!-[\]-~]+$/;
/** What a browser does not go to, but runs or reads. */
const NO_REDIRECTS: ReadonlySet<string> = new Set(["about:", "blob:", "data:", "file:", "javascript:", "vbscript:"]);

/**
 * What is wrong with the URL of a metadata document, as the end of a sentence; `undefined`: nothing.
 * Source: 2026-07-28, Client Registration, Implementation Requirements; OAuth Client ID Metadata Document, Client Identifier.
 */
export function documentUrlFault(value: unknown): string | undefined {
  if (typeof value !== "string" || !URL.canParse(value)) return "must be a URL";
  if (!PLAIN_HTTPS.test(value)) return "must begin with https:// and hold no space, no backslash and nothing but ASCII";
  const { pathname } = new URL(value);
  if (value.includes("#")) return "may have no fragment";
  if (/^https:\/\/[^/?]*@/.test(value)) return "may have no userinfo";
  if (DOT_SEGMENT.test(value)) return "may have no dot segments in its path";
  return pathname === "/" ? "must have a path" : undefined;
}

/** Whether a text can be the issuer of an authorization server. Source: RFC 8414, Authorization Server Metadata. */
export function isIssuer(value: unknown): value is string {
  if (typeof value !== "string" || !URL.canParse(value)) return false;
  const { hostname, password, protocol, username } = new URL(value);
  const isSecure = protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
  return isSecure && username === "" && password === "" && !/[?#]/.test(value);
}

/** Whether a browser can be sent back to it: https, http on loopback, or a scheme of a program's own. Source: RFC 8252; RFC 9700. */
export function isRedirectUri(value: unknown): value is string {
  if (typeof value !== "string" || !URL.canParse(value) || value.includes("#")) return false;
  const { hostname, protocol } = new URL(value);
  return protocol === "http:" ? isLoopback(hostname) : !NO_REDIRECTS.has(protocol);
}

/**
 * What kind of program its redirect URIs make it: `native` on loopback and by a scheme of its own, `web` by https elsewhere; `native` when
 * there are both, since a `web` client can't have the others. Source: OpenID Connect Dynamic Client Registration, Client Metadata.
 */
export function applicationType(redirectUris: readonly string[]): "native" | "web" {
  return redirectUris.length > 0 && redirectUris.every(isWeb) ? "web" : "native";
}

function isWeb(uri: string): boolean {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  return url?.protocol === "https:" && !isLoopback(url.hostname);
}
