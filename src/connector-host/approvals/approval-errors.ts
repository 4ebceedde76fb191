import { type ErrorDetails, RemoteConnectorError } from "../../errors.js";

/** Nobody is there who could be asked. */
export function approvalRequired(connectorKey: string): RemoteConnectorError<"approval_required"> {
  return new RemoteConnectorError("approval_required", {
    message: `Each call of this tool of ${connectorKey} needs an approval, and nobody is there to give one.`,
    details: { connectorKey },
  });
}

export function approvalDenied(
  connectorKey: string,
  reason: ErrorDetails["approval_denied"]["reason"],
): RemoteConnectorError<"approval_denied"> {
  const message = `The call of a tool of ${connectorKey} was not approved (${reason}).`;
  return new RemoteConnectorError("approval_denied", { message, details: { connectorKey, reason } });
}
