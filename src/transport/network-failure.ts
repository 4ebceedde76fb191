import { plainText } from "../protocol/index.js";

/** A short, stable description of a network error: its code where it has one. */
export function networkReason(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  if (typeof code === "string") return plainText(code, 64);
  return error instanceof Error ? plainText(error.name, 64) : "unknown";
}

/**
 * A network error without what libraries hang on it, which can be bytes of the answer, and without the userinfo and the
 * query of a URL that its text has.
 */
export function networkCause(error: unknown, code: string): Error {
  const cause = new Error(error instanceof Error ? plainText(withoutSecrets(error.message), 256) : "Not an error.");
  return Object.assign(cause, { code });
}

function withoutSecrets(text: string): string {
  return text.replaceAll(/\/\/[^\s/]*@/g, "//…@").replaceAll(/\?\S+/g, "?…");
}
