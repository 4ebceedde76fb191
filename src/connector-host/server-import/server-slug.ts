import { createHash } from "node:crypto";
import { isConnectorKey } from "../release/index.js";

/** Not the form of the marks in tools' names, so that a derived slug stands for itself there. */
const MARKED = /-z[0-9a-v]{9}$/;
const DIGITS = 9;
/** With its mark a slug has at most 24 characters, the length up to which a namespace needs no mark of its own. */
const STEM_LENGTH = 24 - 2 - DIGITS;

/**
 * The slug for a server of this name. It depends on nothing else. Names that are no well-formed text, which no server may have,
 * can share one.
 *
 * A name that is a connector key and does not end like a mark stands for itself. Any other becomes a readable stem and a mark, a
 * hash of the whole, so that two names share a slug only when 45 bits of two hashes do.
 */
export function slugOfName(name: string): string {
  if (isConnectorKey(name) && !MARKED.test(name)) return name;
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  const stem = /^[a-z]/.test(words) ? words : `server${words === "" ? "" : `-${words}`}`;
  return stem.slice(0, STEM_LENGTH).replace(/-$/, "") + markOf(name);
}

function markOf(name: string): string {
  const digest = createHash("sha256").update(`remote-connector/slug\0${name}`, "utf8").digest();
  const bits = digest.readBigUInt64BE(0) >> 19n;
  return `-z${bits.toString(32).padStart(DIGITS, "0")}`;
}
