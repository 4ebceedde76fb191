import { hash, timingSafeEqual } from "node:crypto";
import { RemoteConnectorError } from "../../errors.js";
import type { PendingAuthorization } from "./prepare-authorization.js";
import { knownErrorWord } from "../error-words.js";

/**
 * Reads the answer that a browser brought back: the code that it carries.
 *
 * `state` is compared first, then `iss`: exactly, as text, whenever it is there, and nothing else of the answer is looked at, or
 * shown, before both are as they were recorded. A parameter that comes twice is refused. Pure.
 *
 * Throws `oauth_invalid` (`callback`; `member` is `state`, `iss`, `error` or `code`) for an answer that is none of this
 * authorization's, and `oauth_refused` (`authorization`) for a refusal; `errorCode` is then one of a closed list of words, or absent.
 *
 * Source: 2026-07-28, Authorization, Authorization Response Validation; RFC 9207, Validating the Issuer Identifier; RFC 6749,
 * Authorization Response, Error Response.
 */
export function readCallback(callbackUrl: URL, pending: PendingAuthorization): { readonly code: string } {
  const answer = callbackUrl.searchParams;
  const single = (name: string): string | undefined => {
    const values = answer.getAll(name);
    if (values.length > 1) refuse(pending, name, "appears more than once");
    return values[0];
  };

  const state = single("state");
  if (state === undefined) return refuse(pending, "state", "missing");
  if (!isSame(state, pending.state)) return refuse(pending, "state", "not the one that was sent");

  const issuer = single("iss");
  if (issuer === undefined && pending.expectsIssuer) return refuse(pending, "iss", "missing");
  if (issuer !== undefined && issuer !== pending.issuer) return refuse(pending, "iss", "another issuer");

  // A parameter without a value counts as left out. Source: RFC 6749, Authorization Endpoint.
  const error = single("error") ?? "";
  if (error !== "") return refused(pending, knownErrorWord(error));
  const code = single("code") ?? "";
  return code === "" ? refuse(pending, "code", "missing") : { code };
}

/** Takes as long for a near guess as for a wild one. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"));
}

function refuse({ redirectUri }: PendingAuthorization, member: string, reason: string): never {
  const [url = ""] = redirectUri.split("?", 1);
  throw new RemoteConnectorError("oauth_invalid", {
    message: `The answer of the authorization server is not used: ${member}: ${reason}.`,
    details: { subject: "callback", url, member, reason },
    delivery: "answered",
  });
}

function refused({ issuer }: PendingAuthorization, errorCode: string | undefined): never {
  throw new RemoteConnectorError("oauth_refused", {
    message: `The authorization server ${issuer} refused${errorCode === undefined ? "" : `: ${errorCode}`}.`,
    details: { step: "authorization", issuer, errorCode },
    delivery: "answered",
  });
}
