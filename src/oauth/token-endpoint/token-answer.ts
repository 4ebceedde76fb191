import type { RemoteConnectorError } from "../../errors.js";
import { isScope } from "../scope-set.js";
import { isSuccess } from "../../transport/index.js";
import { hasError, invalidAnswer, objectIn, refusalOf } from "../refused-answer.js";
import type { OAuthAnswer } from "../requester.js";
import type { TokenSet } from "../token-set.js";
import type { TokenStep } from "./token-failure.js";

/** What an answer is read with. */
export interface AnswerContext {
  readonly step: TokenStep;
  readonly issuer: string;
  /** What a token's type may be. `any`: it is no access token, and its type does not matter. */
  readonly wanted: "bearer" | "bearer_or_dpop" | "any";
  /** Unix time in milliseconds, from which its time counts. */
  readonly askedAt: number;
}

/** A token as it was answered. */
export interface AnsweredToken extends TokenSet {
  /** As the answer names it. Source: RFC 8693, Successful Response. */
  readonly issuedTokenType: string | undefined;
}

/** Visible ASCII: what a header can hold. It is more than `b64token`, as RFC 6749 allows, and some servers use. */
const SENDABLE = /^[!-~]+$/;
const DECIMAL = /^-?[0-9]+(?:\.[0-9]+)?$/;

/**
 * Reads an answer as servers write them: numbers as text are numbers, a lifetime of zero or less is over, one that can't be read is unknown, what
 * is `null`, empty or no text is absent, types are in any case, and what is not used is left alone; so is an ID token, which nobody checks
 * here.
 *
 * Throws `oauth_refused` for an error, whatever its status; for any status but a success; and for what is no JSON object. Throws
 * `oauth_invalid` for an answer without a token, or with one that can't be used. Source: OAuth 2.1, Token Response.
 */
export function readTokenAnswer(answer: OAuthAnswer, context: AnswerContext): AnsweredToken {
  const json = objectIn(answer);
  // An error may come with any status, 200 included.
  if (json === undefined || !isSuccess(answer.status) || hasError(json)) throw refusalOf(answer, context);
  const accessToken = readText(json["access_token"]);
  if (accessToken === undefined) throw invalidToken(answer, "access_token", "is missing");
  if (!SENDABLE.test(accessToken)) throw invalidToken(answer, "access_token", "holds characters that can't be sent");
  return {
    accessToken,
    tokenType: readType(json["token_type"], answer, context),
    expiresAt: readExpiry(json["expires_in"], context),
    refreshToken: readText(json["refresh_token"]),
    scopes: readScopes(json["scope"]),
    issuedTokenType: readText(json["issued_token_type"]),
  };
}

/** Some servers leave the type out, and mean the usual one. */
function readType(value: unknown, answer: OAuthAnswer, { wanted }: AnswerContext): TokenSet["tokenType"] {
  const type = typeof value === "string" ? value.toLowerCase() : (value ?? "bearer");
  if (type === "bearer" || wanted === "any") return "Bearer";
  if (type === "dpop" && wanted === "bearer_or_dpop") return "DPoP";
  throw invalidToken(answer, "token_type", type === "dpop" ? "is bound to a key that was not shown" : "is not known");
}

function readExpiry(value: unknown, { askedAt }: AnswerContext): number | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  const seconds = DECIMAL.test(text) ? Number(text) : value;
  if (typeof seconds !== "number") return undefined;
  const at = Math.floor(askedAt + Math.max(0, seconds) * 1_000);
  return Number.isSafeInteger(at) ? at : undefined;
}

/** Scopes separated by spaces, or a list of them, each once. What is no scope by its characters is shown to nobody, and dropped. */
function readScopes(value: unknown): readonly string[] | undefined {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const scopes = texts.flatMap((each) => (typeof each === "string" ? each.split(/\s+/) : []));
  const named = new Set(scopes.filter(isScope));
  return named.size === 0 ? undefined : [...named];
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function invalidToken(answer: OAuthAnswer, member: string, reason: string): RemoteConnectorError<"oauth_invalid"> {
  return invalidAnswer(answer, { subject: "token", member, reason });
}
