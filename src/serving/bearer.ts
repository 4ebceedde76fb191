import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { headerValue, type HeaderFields } from "./header-fields.js";

const BEARER_BYTES = 32;

/** A new bearer of 32 random bytes in base64url, and its SHA-256 hash: hand out the first, store the second. */
export function createBearer(random: (size: number) => Uint8Array = randomBytes): {
  readonly token: string;
  readonly hash: Uint8Array;
} {
  const token = Buffer.from(random(BEARER_BYTES)).toString("base64url");
  return { token, hash: hashBearer(token) };
}

/** SHA-256 of a bearer's text. */
export function hashBearer(token: string): Uint8Array {
  return hash("sha256", token, "buffer");
}

/**
 * The value that belongs to the bearer of the `Authorization` header, or `undefined`. Hashes are compared in constant
 * time and none is skipped, so that the time taken says nothing about how near a guess came, nor which entry matched.
 */
export function matchBearer<T>(
  headers: HeaderFields,
  known: Iterable<{ readonly hash: Uint8Array; readonly value: T }>,
): T | undefined {
  const token = readBearer(headers);
  if (token === undefined) return undefined;
  const presented = hashBearer(token);
  let found: { readonly value: T } | undefined;
  for (const entry of known) {
    if (entry.hash.byteLength === presented.byteLength && timingSafeEqual(entry.hash, presented)) found = entry;
  }
  return found?.value;
}

function readBearer(headers: HeaderFields): string | undefined {
  const match = /^Bearer +([\w.~+/-]+=*) *$/i.exec(headerValue(headers, "authorization") ?? "");
  return match?.[1];
}
