import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { type AnswerHead, shownUrl } from "../../transport/index.js";
import { type OAuthUrlPolicy, parseOAuthUrl } from "./oauth-url.js";

/** How many redirects in a row are followed when something is read. */
const MAX_HOPS = 3;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Whether a status is one that sends somewhere else. */
export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/**
 * Where a redirect of a request that reads leads, if it may be followed: to the same origin, or from http to https of the same host,
 * whatever the port. `hops`: redirects that were followed before.
 *
 * Throws `redirect_refused`, `answered`. Pure.
 */
export function redirectedTo(head: AnswerHead, from: URL, hops: number, policy: OAuthUrlPolicy): URL {
  const target = locationOf(head, from);
  if (target === undefined) return refuse(head, target, "it names no location");
  if (hops >= MAX_HOPS) return refuse(head, target, `more than ${String(MAX_HOPS)} redirects in a row`);
  const isUpgrade = from.protocol === "http:" && target.protocol === "https:" && target.hostname === from.hostname;
  const isSame = target.protocol === from.protocol && target.host === from.host;
  if (!isSame && !isUpgrade) return refuse(head, target, "its location is of another origin");
  try {
    return parseOAuthUrl(target.href, policy);
  } catch (error) {
    if (!isRemoteConnectorError(error, "invalid_url")) throw error;
    return refuse(head, target, `its location ${error.details.reason}`);
  }
}

/** The error of a redirect of a request that may change something. `answered`. Pure. */
export function postRedirected(head: AnswerHead, from: URL): RemoteConnectorError<"redirect_refused"> {
  return refusal(head, locationOf(head, from), "what was sent is for this place alone");
}

function refuse(head: AnswerHead, target: URL | undefined, reason: string): never {
  throw refusal(head, target, reason);
}

function refusal(
  { status }: AnswerHead,
  target: URL | undefined,
  reason: string,
): RemoteConnectorError<"redirect_refused"> {
  return new RemoteConnectorError("redirect_refused", {
    message: `The server redirects with ${String(status)}, which is not followed: ${reason}.`,
    delivery: "answered",
    details: { status, location: target === undefined ? "" : shownUrl(target), reason },
  });
}

function locationOf({ headers }: AnswerHead, from: URL): URL | undefined {
  const value = headers["location"];
  const location = Array.isArray(value) ? value[0] : value;
  return location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
}
