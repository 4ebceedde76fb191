import type { AuthorizationChallenge } from "../protected-resource.js";
import { parseWwwAuthenticate } from "./parse-www-authenticate.js";

/** More places than this are no help: each may be asked. */
const MAX_CANDIDATES = 8;

/**
 * What the Bearer and DPoP challenges of a refusal say. `fields` are those of `WWW-Authenticate`, each as it came. Each
 * `resource_metadata` is a candidate, the first 8 different ones in order; `scope` and `error` are those of the first challenge that
 * has one which is not blank. Other schemes are not heard. Total.
 *
 * Source: RFC 9728, Use of WWW-Authenticate; RFC 6750, The WWW-Authenticate Response Header Field; RFC 9449, Protected Resource Access.
 */
export function readChallenges(fields: readonly string[]): AuthorizationChallenge {
  const schemes = new Set<"bearer" | "dpop">();
  const candidates = new Set<string>();
  let scope: string | undefined;
  let error: string | undefined;
  for (const { scheme, parameters } of parseWwwAuthenticate(fields)) {
    if (scheme !== "bearer" && scheme !== "dpop") continue;
    schemes.add(scheme);
    for (const [name, text] of parameters) {
      const value = text.trim();
      if (value === "") continue;
      if (name === "resource_metadata" && candidates.size < MAX_CANDIDATES) candidates.add(value);
      else if (name === "scope") scope ??= text;
      else if (name === "error") error ??= value;
    }
  }
  return { schemes, resourceMetadata: [...candidates], scope, error };
}
