import { createHash } from "node:crypto";
import { isSignedBy, type Jws, readJws, thumbprintOf } from "./jws.js";

/** What a proof has to fit. */
export interface ProvenRequest {
  readonly method: string;
  /** Without query and fragment. */
  readonly url: string;
  /** The token that the proof is about, at a resource server. */
  readonly accessToken?: string | undefined;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

export type ProofVerdict =
  | { readonly kind: "valid"; readonly thumbprint: string }
  /** The proof has no nonce, or not the one that counts. */
  | { readonly kind: "use_nonce"; readonly nonce: string }
  | { readonly kind: "invalid"; readonly reason: string };

/** How far a proof's time may be from the judge's. */
const MAX_SKEW_MS = 300_000;

/** Judges DPoP proofs: each may come once, and has the nonce that was given last where one is demanded. Source: RFC 9449. */
export class DpopJudge {
  readonly #seen = new Set<string>();
  readonly #newNonce: () => string;
  /** The one that counts; `undefined` until one is demanded. */
  #nonce: string | undefined;

  constructor(newNonce: () => string) {
    this.#newNonce = newNonce;
  }

  /** The nonce that counts from now on is another one. */
  renewNonce(): void {
    this.#nonce = this.#newNonce();
  }

  judge(proof: string, request: ProvenRequest, demandsNonce: boolean): ProofVerdict {
    const jws = readJws(proof);
    const read = jws === undefined ? "the proof can't be read" : readProof(jws, request);
    if (typeof read === "string") return { kind: "invalid", reason: read };
    if (this.#seen.has(read.id)) return { kind: "invalid", reason: "the proof came before" };
    this.#seen.add(read.id);
    if (demandsNonce) {
      this.#nonce ??= this.#newNonce();
      if (read.nonce !== this.#nonce) return { kind: "use_nonce", nonce: this.#nonce };
    }
    return { kind: "valid", thumbprint: read.thumbprint };
  }
}

/** What a proof says, or why it is none of this request. Pure. Source: RFC 9449, Checking DPoP Proofs. */
function readProof(
  jws: Jws,
  { accessToken, method, nowMs, url }: ProvenRequest,
): { readonly id: string; readonly nonce: unknown; readonly thumbprint: string } | string {
  const { claims, header } = jws;
  const { jwk, typ } = header;
  const thumbprint = thumbprintOf(jwk);
  if (typ !== "dpop+jwt") return "typ is not dpop+jwt";
  if (thumbprint === undefined) return "jwk is no public key";
  if (!isSignedBy(jws, Object(jwk))) return "the signature is wrong";
  const { ath, htm, htu, iat, jti, nonce } = claims;
  if (typeof jti !== "string" || jti === "") return "jti is missing";
  if (htm !== method) return "htm is another method";
  if (typeof htu !== "string" || !URL.canParse(htu) || new URL(htu).href !== new URL(url).href)
    return "htu is another URL";
  if (typeof iat !== "number" || Math.abs(iat * 1_000 - nowMs) > MAX_SKEW_MS) return "iat is too far away";
  const wanted = accessToken === undefined ? undefined : createHash("sha256").update(accessToken).digest("base64url");
  if (ath !== wanted) return "ath is not of the access token";
  return { id: `${thumbprint} ${jti}`, nonce, thumbprint };
}
