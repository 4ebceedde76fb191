import { createPrivateKey, type KeyObject } from "node:crypto";
import type { SigningKey } from "./oauth-client.js";

/** A private key as it can be used. */
export interface ReadKey {
  readonly key: KeyObject;
  /** What it may sign with, the best known first; one when that was told. */
  readonly algorithms: readonly [string, ...string[]];
  readonly keyId: string | undefined;
}

const EC_ALGORITHMS: ReadonlyMap<string | undefined, string> = new Map([
  ["prime256v1", "ES256"],
  ["secp384r1", "ES384"],
  ["secp521r1", "ES512"],
]);
const RSA_ALGORITHMS = ["RS256", "PS256", "RS384", "PS384", "RS512", "PS512"];
/** Both names of the same: the former is what most servers know. */
const ED25519_ALGORITHMS = ["EdDSA", "Ed25519"];
const LEAST_RSA_BITS = 2048;

/**
 * Reads a private key, in PEM or as a JWK. Answers with what is wrong with it, as the end of a sentence, when it can't be used: the text
 * holds nothing of the key. A PEM whose own type is RSASSA-PSS can't: `jose` signs so with keys of RSA alone.
 *
 * Source: RFC 7518, Cryptographic Algorithms for Digital Signatures; RFC 8037; RFC 9864.
 */
export function readSigningKey({ algorithm, key: source, keyId }: SigningKey): ReadKey | string {
  const key = importKey(source);
  if (key === undefined) return "is no private key in PEM or as a JWK";
  const named = algorithm ?? memberOf(source, "alg");
  const fitting = algorithmsOf(key);
  const algorithms = named === undefined ? fitting : fitting.filter((each) => each === named);
  const [first, ...others] = algorithms;
  if (first === undefined) return "can't sign with its algorithm";
  return { key, algorithms: [first, ...others], keyId: keyId ?? memberOf(source, "kid") };
}

function importKey(source: SigningKey["key"]): KeyObject | undefined {
  try {
    return createPrivateKey(typeof source === "string" ? source : { key: { ...source }, format: "jwk" });
  } catch {
    // What it says may hold a piece of the key.
    return undefined;
  }
}

function algorithmsOf({ asymmetricKeyDetails, asymmetricKeyType }: KeyObject): readonly string[] {
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  if (asymmetricKeyType === "rsa") return bits >= LEAST_RSA_BITS ? RSA_ALGORITHMS : [];
  if (asymmetricKeyType === "ed25519") return ED25519_ALGORITHMS;
  const curve = EC_ALGORITHMS.get(asymmetricKeyDetails?.namedCurve);
  return asymmetricKeyType === "ec" && curve !== undefined ? [curve] : [];
}

function memberOf(source: SigningKey["key"], member: "alg" | "kid"): string | undefined {
  const value = typeof source === "string" ? undefined : source[member];
  return typeof value === "string" ? value : undefined;
}
