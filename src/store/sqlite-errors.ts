import { type AnyRemoteConnectorError, isRemoteConnectorError, RemoteConnectorError } from "../errors.js";

/** What a failure of SQLite or of the file system means: the error that is thrown instead. One of ours stays as it is. */
export function storeError(error: unknown, path: string): AnyRemoteConnectorError {
  if (isRemoteConnectorError(error)) return error;
  const code = codeOf(error);
  if (code === "SQLITE_FULL" || code === "ENOSPC" || code === "EDQUOT") {
    return new RemoteConnectorError("store_full", {
      message: "There is no room for the store; nothing was written.",
      details: { path },
      cause: error,
    });
  }
  // Extended codes begin with the one that they refine.
  if (["SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"].some((busy) => code.startsWith(busy))) {
    return new RemoteConnectorError("store_in_use", {
      message: "Another process holds the store.",
      details: { path },
      cause: error,
    });
  }
  return new RemoteConnectorError("store_unavailable", {
    message: "The store can't be used.",
    details: { path, reason: code },
    cause: error,
  });
}

/** `unknown` for an error without a code; SQLite's opening errors have none. */
function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : "unknown";
}
