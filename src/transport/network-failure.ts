import { plainText } from "../protocol/index.js";

/** A short, stable description of a network error: its code where it has one. */
export function networkReason(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  if (typeof code === "string") return code;
  return error instanceof Error ? error.name : "unknown";
}

/** A network error without what libraries hang on it, which can be bytes of the answer. */
export function networkCause(error: unknown, code: string): Error {
  const cause = new Error(error instanceof Error ? plainText(error.message, 256) : "Not an error.");
  return Object.assign(cause, { code });
}
