import { RemoteConnectorError } from "../../errors.js";

/** The failure of a sign-in without an account. */
export function noAccount(): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: "An account id must not be empty.",
    details: { argument: "accountId", reason: "empty" },
  });
}

/** The failure of what is asked about a connector that there is not. */
export function unknownConnector(connectorKey: string): RemoteConnectorError<"unknown_connector"> {
  return new RemoteConnectorError("unknown_connector", {
    message: `No connector has the key ${connectorKey}.`,
    details: { connectorKey },
  });
}

/** The failure of what is asked of a host that is closed. */
export function hostClosed(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The connector host is closed.",
    details: { reason: "host_closed" },
  });
}
