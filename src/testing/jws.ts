import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import { isJsonObject } from "../protocol/index.js";

/** A signed token in compact form, taken apart and not verified. */
export interface Jws {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly signed: string;
  readonly signature: Uint8Array;
}

/** A public key: a JWK, or SPKI in PEM. */
export type PublicKey = string | Readonly<Record<string, unknown>>;

/** Algorithms that are verified, with the digest of each. `ES…` signatures are two numbers side by side. Source: RFC 7518. */
const DIGESTS: Readonly<Record<string, string | null>> = {
  ES256: "sha256",
  ES384: "sha384",
  RS256: "sha256",
  EdDSA: null,
};

/** The kinds of key that an algorithm is for. */
const KEY_TYPES: Readonly<Record<string, string>> = { ES256: "ec", ES384: "ec", RS256: "rsa", EdDSA: "ed25519" };

/** What is verified here. */
export const JWS_ALGORITHMS: readonly string[] = Object.keys(DIGESTS);

/** Takes a token apart; `undefined` for what is none. Pure. Source: RFC 7515, JWS Compact Serialization. */
export function readJws(text: string): Jws | undefined {
  const parts = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(text);
  if (parts === null) return undefined;
  const [, head = "", body = "", signature = ""] = parts;
  const header = parsePart(head);
  const claims = parsePart(body);
  if (header === undefined || claims === undefined) return undefined;
  return { header, claims, signed: `${head}.${body}`, signature: Buffer.from(signature, "base64url") };
}

/** Whether the key's owner signed it, by an algorithm that is known and fits the key. */
export function isSignedBy(jws: Jws, publicKey: PublicKey): boolean {
  const algorithm = String(jws.header["alg"]);
  const digest = DIGESTS[algorithm];
  const key = importKey(publicKey);
  if (digest === undefined || key === undefined || key.asymmetricKeyType !== KEY_TYPES[algorithm]) return false;
  return verify(digest, Buffer.from(jws.signed), { key, dsaEncoding: "ieee-p1363" }, jws.signature);
}

/** The thumbprint of a public JWK; `undefined` for one that is none. Source: RFC 7638. */
export function thumbprintOf(jwk: unknown): string | undefined {
  const key = isJsonObject(jwk) && jwk["d"] === undefined ? importKey(jwk) : undefined;
  if (key === undefined) return undefined;
  // Node exports the required members alone; their order is that of their names.
  const members = Object.entries(key.export({ format: "jwk" })).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify(Object.fromEntries(members)))
    .digest("base64url");
}

function importKey(publicKey: PublicKey): KeyObject | undefined {
  try {
    if (typeof publicKey === "string") return createPublicKey(publicKey);
    const key: JsonWebKey = { ...publicKey };
    return createPublicKey({ key, format: "jwk" });
  } catch {
    return undefined;
  }
}

function parsePart(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
