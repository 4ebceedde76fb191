import { isRemoteConnectorError, RemoteConnectorError } from "../errors.js";

/** The first failure, with what came of the attempt that it led to as its cause. What is no error of this package stays as it is. */
export function withCause(first: unknown, later: unknown): unknown {
  if (!isRemoteConnectorError(first)) return first;
  const { code, message, delivery, details } = first;
  return new RemoteConnectorError(code, { message, delivery, details, cause: later });
}
