import { isJsonObject, parseJson } from "../../protocol/index.js";
import type { ServerMetadata } from "../authorization-server.js";

/**
 * Whether an assertion says by itself that it is for this authorization server: that its issuer, or its token endpoint, is an audience of it;
 * one slash at the end is ignored. What is no JWT is for nobody. Nothing of it is verified: it is the application's own. Pure and total.
 *
 * Source: RFC 7523, JWT Format and Processing Requirements.
 */
export function isMeantFor(assertion: string, { issuer, token_endpoint: endpoint = issuer }: ServerMetadata): boolean {
  const [, payload = "", signature, ...more] = assertion.split(".");
  if (signature === undefined || more.length > 0) return false;
  const claims = parseJson(Buffer.from(payload, "base64url").toString("utf8"));
  const audiences: readonly unknown[] = isJsonObject(claims) ? [claims["aud"]].flat() : [];
  const own = [withoutSlash(issuer), withoutSlash(endpoint)];
  return audiences.some((audience) => typeof audience === "string" && own.includes(withoutSlash(audience)));
}

function withoutSlash(text: string): string {
  return text.endsWith("/") ? text.slice(0, -1) : text;
}
