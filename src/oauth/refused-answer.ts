import { type ErrorDetails, RemoteConnectorError } from "../errors.js";
import { isJsonObject, type JsonObject, parseJson } from "../protocol/index.js";
import { bodyText, deliveryByStatus, isSuccess, shownUrl } from "../transport/index.js";
import { knownErrorWord } from "./error-words.js";
import type { OAuthAnswer } from "./requester.js";

/** The JSON object that an answer is; `undefined`: it is none. */
export function objectIn({ body }: OAuthAnswer): JsonObject | undefined {
  const json = parseJson(bodyText(body));
  return isJsonObject(json) ? json : undefined;
}

/** Whether an answer holds an error, whatever its status. Some name one that is none. */
export function hasError({ error }: JsonObject): boolean {
  return error !== undefined && error !== null && error !== "" && error !== false;
}

/**
 * The refusal that an answer is. Of a server's own failure (5xx) nothing is told but the status, and of all others only words of OAuth's own.
 * Source: OAuth 2.1, Token Error Response; RFC 7591, Client Registration Error Response.
 */
export function refusalOf(
  answer: OAuthAnswer,
  { issuer, step }: Pick<ErrorDetails["oauth_refused"], "issuer" | "step">,
): RemoteConnectorError<"oauth_refused"> {
  const { status } = answer;
  const json = objectIn(answer);
  const errorCode = json === undefined || status >= 500 ? undefined : knownErrorWord(json["error"]);
  const said = errorCode === undefined ? "" : `, ${errorCode}`;
  return new RemoteConnectorError("oauth_refused", {
    message: `The authorization server refused: status ${String(status)}${said}.`,
    details: { step, issuer, status, ...(errorCode === undefined ? {} : { errorCode }) },
    // An error that came with a success is an answer like any other.
    delivery: isSuccess(status) && json !== undefined ? "answered" : deliveryByStatus(status),
  });
}

/** An answer that can't be used. Nothing of its text is repeated; `reason` is the end of a sentence. */
export function invalidAnswer(
  { url }: OAuthAnswer,
  { member, reason, subject }: Omit<ErrorDetails["oauth_invalid"], "url">,
): RemoteConnectorError<"oauth_invalid"> {
  const place = member === "" ? "it" : member;
  return new RemoteConnectorError("oauth_invalid", {
    message: `The answer of the authorization server can't be used: ${place} ${reason}.`,
    details: { subject, url: shownUrl(new URL(url)), member, reason },
    delivery: "answered",
  });
}
