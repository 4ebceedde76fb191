import { createHash } from "node:crypto";
import { RemoteConnectorError } from "../../errors.js";

/** What a proof says of its request. Source: RFC 9449, DPoP Proof JWT Syntax. */
export interface ProofClaims {
  readonly jti: string;
  readonly htm: string;
  readonly htu: string;
  /** Unix time in seconds. */
  readonly iat: number;
  readonly ath?: string;
  readonly nonce?: string;
}

/** Where a request goes, as its proof and the nonces have it. */
export interface ProofTarget {
  readonly origin: string;
  /** Without user, query and fragment. */
  readonly htu: string;
}

/** Throws `invalid_argument` for a text that is no http or https URL. */
export function parseProofTarget(url: string): ProofTarget {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== "https:" && parsed.protocol !== "http:")) {
    throw new RemoteConnectorError("invalid_argument", {
      message: "A proof is for a request to an http or https URL.",
      details: { argument: "url", reason: "not an http or https URL" },
    });
  }
  return { origin: parsed.origin, htu: parsed.origin + parsed.pathname };
}

/** How a proof names its access token. Source: RFC 9449, 4.2, `ath`. */
export function hashAccessToken(accessToken: string): string {
  return createHash("sha256").update(accessToken, "utf8").digest("base64url");
}

/** The nonce in a proof that was made here; `undefined` when it has none, or can't be read. */
export function nonceOfProof(proof: string): string | undefined {
  const [, payload = ""] = proof.split(".");
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    if (typeof claims !== "object" || claims === null || !("nonce" in claims)) return undefined;
    return typeof claims.nonce === "string" ? claims.nonce : undefined;
  } catch {
    return undefined;
  }
}
