import { createHash } from "node:crypto";

const MARKED = /-x[0-9a-v]{12}$/;
const DIGITS = 12;

/** Characters of a mark. */
export const MARK_LENGTH = 2 + DIGITS;

/** What a mark is made of: a key and a native name of the same text have different marks. */
export type MarkDomain = "key" | "tool";

/** Whether `name` ends the way marked names do. A name that is not marked may not. */
export function endsLikeMark(name: string): boolean {
  return MARKED.test(name);
}

/**
 * `-x` and twelve characters (base32hex, lower case: 60 bits) of a SHA-256 of `text`, which must be well-formed. Changing
 * anything here renames tools that agents know.
 */
export function nameMark(domain: MarkDomain, text: string): string {
  const digest = createHash("sha256").update(`remote-connector/name/${domain}\0${text}`, "utf8").digest();
  const bits = digest.readBigUInt64BE(0) >> 4n;
  return `-x${bits.toString(32).padStart(DIGITS, "0")}`;
}
