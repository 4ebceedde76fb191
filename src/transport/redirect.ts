import { RemoteConnectorError } from "../errors.js";
import type { AnswerHead } from "./answer-head.js";
import { shownUrl } from "./endpoint.js";
import type { ResponseHeaders } from "./exchange.js";

/** How many redirects in a row are followed. */
export const MAX_REDIRECTS = 3;

/**
 * Where a redirect leads, if it may be followed: a 307 or 308, which keep method and body, to the same origin.
 *
 * What a request carries was meant for its origin, and for nobody else. Pure and total.
 */
export function redirectTarget(status: number, headers: ResponseHeaders, from: URL): URL | undefined {
  if (status !== 307 && status !== 308) return undefined;
  const target = locationOf(headers, from);
  if (target === undefined || !isSameOrigin(target, from)) return undefined;
  return target.username === "" && target.password === "" ? target : undefined;
}

/**
 * The error for a 3xx that was not followed: `redirect_refused`, `answered`. Its `reason` says what would help: the other
 * scheme, or the slash that the configured URL has too many or too few. `from` is the endpoint, `maxRedirects` what the request
 * followed at most. Pure.
 */
export function redirectRefused(
  head: AnswerHead,
  from: URL,
  maxRedirects = MAX_REDIRECTS,
): RemoteConnectorError<"redirect_refused"> {
  const { status, headers, url = from } = head;
  const target = locationOf(headers, url);
  const reason = reasonOf(status, url, target, maxRedirects);
  return new RemoteConnectorError("redirect_refused", {
    message: `The server redirects with ${String(status)}, which is not followed: ${reason}.`,
    delivery: "answered",
    details: { status, location: target === undefined ? "" : shownUrl(target), reason },
  });
}

function reasonOf(status: number, from: URL, target: URL | undefined, maxRedirects: number): string {
  if (target === undefined) return "it names no location";
  if (target.username !== "" || target.password !== "") return "its location holds userinfo";
  const differences = [];
  if (target.protocol !== from.protocol) differences.push(`the scheme (${target.protocol.slice(0, -1)})`);
  if (target.hostname !== from.hostname) differences.push("the host");
  else if (target.protocol === from.protocol && target.port !== from.port) differences.push("the port");
  if (target.pathname !== from.pathname) differences.push(pathDifference(from.pathname, target.pathname));
  if (target.search !== from.search) differences.push("the query");
  const isSame = isSameOrigin(target, from);
  if (isSame && (status === 307 || status === 308)) {
    return maxRedirects === 0 ? "no redirect is followed" : `more than ${String(maxRedirects)} redirects in a row`;
  }
  if (differences.length === 0) return "it leads back to the same URL";
  const what = `its location differs in ${differences.join(" and ")}`;
  return isSame ? what : `${what}, and is of another origin`;
}

/** A `blob:` URL has the origin of the URL that is its path. */
function isSameOrigin(target: URL, from: URL): boolean {
  return target.origin === from.origin && target.protocol === from.protocol;
}

function pathDifference(from: string, target: string): string {
  if (target === `${from}/`) return "the slash at the end of the path (one more)";
  if (from === `${target}/`) return "the slash at the end of the path (one less)";
  return "the path";
}

function locationOf(headers: ResponseHeaders, from: URL): URL | undefined {
  const value = headers["location"];
  const location = Array.isArray(value) ? value[0] : value;
  if (location === undefined || !URL.canParse(location, from.href)) return undefined;
  return new URL(location, from);
}
