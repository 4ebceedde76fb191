import type { JWK } from "jose";

/** The algorithms that keys are made for, the cheapest and most widely known first. */
const ALGORITHMS = ["ES256", "Ed25519", "EdDSA", "ES384", "ES512", "PS256", "RS256"];

/** The members of a key that are public, by its type. */
const PUBLIC_MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["EC", ["crv", "x", "y"]],
  ["OKP", ["crv", "x"]],
  ["RSA", ["n", "e"]],
]);

/** What a key is for when it does not say so. An RSA key could be for several. */
const ALGORITHM_BY_CURVE: ReadonlyMap<unknown, string> = new Map([
  ["P-256", "ES256"],
  ["P-384", "ES384"],
  ["P-521", "ES512"],
  ["Ed25519", "Ed25519"],
]);

/**
 * Chooses how proofs are signed: ES256 when an authorization server takes it or does not say, otherwise what it takes and we can.
 * `undefined`: there is none, so that tokens can't be bound there. Source: RFC 9449, Authorization Server Metadata.
 */
export function chooseDpopAlgorithm(algorithms: readonly string[] | undefined): string | undefined {
  return algorithms === undefined ? "ES256" : ALGORITHMS.find((algorithm) => algorithms.includes(algorithm));
}

/** What a private key signs with, or `undefined` for one that proofs can't be made with. */
export function algorithmOf({ alg, crv, kty }: JWK): string | undefined {
  if (kty === undefined || !PUBLIC_MEMBERS.has(kty)) return undefined;
  if (alg === undefined) return ALGORITHM_BY_CURVE.get(crv);
  return ALGORITHMS.includes(alg) ? alg : undefined;
}

/** The public half of a key: the members that are known to be public, and no others. Source: RFC 7638, 3.2; RFC 8037. */
export function publicHalf(key: JWK): JWK {
  const names = ["kty", ...(PUBLIC_MEMBERS.get(key.kty ?? "") ?? [])];
  return Object.fromEntries(Object.entries(key).filter(([name]) => names.includes(name)));
}
