import type { IssuedToken } from "../authorization-server/index.js";
import type { DpopJudge } from "../dpop-judge.js";
import type { ReceivedRequest } from "../received-request.js";
import type { ProtectionConfig } from "./options.js";
import { resourceOf } from "./resource-metadata.js";

/** Why a request is refused. */
export interface Refusal {
  readonly kind: "refused";
  readonly status: 401 | 403;
  readonly scheme: "Bearer" | "DPoP";
  /** OAuth's own word; `undefined` where no token came. */
  readonly error: "insufficient_scope" | "invalid_dpop_proof" | "invalid_token" | "use_dpop_nonce" | undefined;
  readonly scopes: readonly string[];
  readonly nonce?: string | undefined;
}

export type AccessVerdict = { readonly kind: "passed"; readonly token: IssuedToken | undefined } | Refusal;

/** What requests are judged by. */
export interface AccessContext {
  /** The server's own URL. */
  readonly endpoint: string;
  readonly protection: ProtectionConfig;
  readonly dpop: DpopJudge;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

/** Judges the authorization of a request. Source: RFC 6750; RFC 9449, DPoP Authentication Scheme. */
export function judgeAccess(request: ReceivedRequest, context: AccessContext): AccessVerdict {
  const { protection } = context;
  if (protection.openMethods.includes(request.method ?? "")) return { kind: "passed", token: undefined };
  const given = /^(Bearer|DPoP) +(\S+) *$/i.exec(request.header("authorization") ?? "");
  if (given === null) return refuse(protection, undefined);
  const [, scheme = "", text = ""] = given;
  const token = findToken(text, context);
  if (token === undefined) return refuse(protection, "invalid_token");
  if (token.thumbprint !== undefined || protection.requiresDpop) {
    const refusal = judgeProof(request, scheme, token, context);
    if (refusal !== undefined) return refusal;
  } else if (scheme.toLowerCase() !== "bearer") return refuse(protection, "invalid_token");
  const scopes = neededScopes(request, protection);
  if (scopes.every((scope) => token.scopes.includes(scope))) return { kind: "passed", token };
  const isBound = token.thumbprint !== undefined;
  return { kind: "refused", status: 403, scheme: isBound ? "DPoP" : "Bearer", error: "insufficient_scope", scopes };
}

/** A refusal for want of a good token. */
export function refuse({ challengeScopes, requiresDpop }: ProtectionConfig, error: Refusal["error"]): Refusal {
  return { kind: "refused", status: 401, scheme: requiresDpop ? "DPoP" : "Bearer", error, scopes: challengeScopes };
}

function judgeProof(
  request: ReceivedRequest,
  scheme: string,
  token: IssuedToken,
  { dpop, endpoint, nowMs, protection }: AccessContext,
): Refusal | undefined {
  const proof = request.header("dpop");
  const bad: Refusal = { ...refuse(protection, "invalid_token"), scheme: "DPoP" };
  if (scheme.toLowerCase() !== "dpop" || token.thumbprint === undefined) return bad;
  if (proof === undefined) return { ...bad, error: "invalid_dpop_proof" };
  const url = `${new URL(endpoint).origin}${request.path}`;
  const proven = { method: request.verb, url, accessToken: token.token, nowMs };
  const verdict = dpop.judge(proof, proven, protection.demandsDpopNonce);
  if (verdict.kind === "use_nonce") return { ...bad, error: "use_dpop_nonce", nonce: verdict.nonce };
  if (verdict.kind === "invalid") return { ...bad, error: "invalid_dpop_proof" };
  return verdict.thumbprint === token.thumbprint ? undefined : bad;
}

function findToken(text: string, { endpoint, protection }: AccessContext): IssuedToken | undefined {
  const { authorizationServers, checksResource } = protection;
  for (const source of authorizationServers) {
    const token = source.findValid(text);
    if (token !== undefined) {
      return checksResource && !token.resources.includes(resourceOf(endpoint, protection)) ? undefined : token;
    }
  }
  return undefined;
}

function neededScopes(request: ReceivedRequest, { requiredScopes }: ProtectionConfig): readonly string[] {
  const method = request.method ?? "";
  const name = request.params["name"];
  const keys = ["*", method, ...(typeof name === "string" ? [`${method} ${name}`] : [])];
  return [...new Set(keys.flatMap((key) => requiredScopes[key] ?? []))];
}
