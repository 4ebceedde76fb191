import { plainText } from "../protocol/index.js";

/** A short, stable description of a network error: its code where it has one. */
export function networkReason(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  if (typeof code === "string") return plainText(code, 64);
  return error instanceof Error ? plainText(error.name, 64) : "unknown";
}

/** What another attempt does not change: an address that is not allowed, a certificate that is not trusted. */
const LASTING: ReadonlySet<string> = new Set([
  "CERT_CHAIN_TOO_LONG",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REJECTED",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_ADDRESS_REFUSED",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HOSTNAME_MISMATCH",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Whether a failure to connect, by its reason, is one that another attempt would meet again. Pure. */
export function isLasting(reason: string): boolean {
  return LASTING.has(reason);
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
