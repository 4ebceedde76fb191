/** Codes that only come up while a connection is made: nothing of a request has been written then. */
const CONNECT_CODES: ReadonlySet<unknown> = new Set([
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ENOTFOUND",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** System calls that come before the first byte. */
const CONNECT_CALLS: ReadonlySet<unknown> = new Set(["connect", "getaddrinfo"]);

/**
 * Whether a failure, where nothing tells when a connection was made, proves by its code that there was none. Pure and total.
 *
 * `ECONNRESET`, time limits and everything without a code prove nothing.
 */
export function provesNotSent(error: unknown): boolean {
  if (isConnectError(error)) return true;
  // Fetch wraps what went wrong, and so do attempts on several addresses.
  return isObject(error) && isConnectError(Reflect.get(error, "cause"));
}

function isConnectError(error: unknown): boolean {
  if (!isObject(error)) return false;
  if (CONNECT_CODES.has(Reflect.get(error, "code")) || CONNECT_CALLS.has(Reflect.get(error, "syscall"))) return true;
  const attempts: unknown = Reflect.get(error, "errors");
  return Array.isArray(attempts) && attempts.length > 0 && attempts.every(isConnectError);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
