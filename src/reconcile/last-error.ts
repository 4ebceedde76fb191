import { isRemoteConnectorError } from "../errors.js";
import type { LastError } from "./ports.js";

const LONGEST_MESSAGE = 512;

/**
 * What is kept of a failure in a row. An error of this package carries its code and its message; of any other value only its
 * name is kept, since its text may hold anything.
 */
export function describeError(error: unknown): LastError {
  if (isRemoteConnectorError(error)) return { code: error.code, message: boundedText(error.message) };
  return { code: "unexpected", message: error instanceof Error ? boundedText(error.name) : typeof error };
}

/** `text` on one line, without control characters, and not longer than a row keeps. */
export function boundedText(text: string): string {
  const clean = text.replaceAll(/\p{Cc}+/gu, " ").trim();
  if (clean.length <= LONGEST_MESSAGE) return clean;
  // Half of a surrogate pair at the cut is no text any more.
  return clean.slice(0, LONGEST_MESSAGE).replace(/[\uD800-\uDBFF]$/, "");
}
