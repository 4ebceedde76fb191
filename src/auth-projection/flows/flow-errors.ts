import { RemoteConnectorError } from "../../errors.js";

/** The failure of what was under way when the login ended. */
export function loginEnded(connectorKey: string): RemoteConnectorError<"login_ended"> {
  return new RemoteConnectorError("login_ended", {
    message: `The login ended while ${connectorKey} was being authorized or disconnected.`,
    delivery: "unknown",
    details: { connectorKey },
  });
}

/** The failure of what was under way when the flows were closed, and of what comes later. */
export function flowsClosed(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The authorization flows were closed.",
    delivery: "unknown",
    details: { reason: "flows_closed" },
  });
}

/** The failure of a flow whose connector has one under way. `clientRequestId`: that one's; `undefined` for a disconnect. */
export function inProgress(
  connectorKey: string,
  clientRequestId: string | undefined,
): RemoteConnectorError<"authorization_in_progress"> {
  return new RemoteConnectorError("authorization_in_progress", {
    message: `An authorization of ${connectorKey} is under way.`,
    details: { connectorKey, clientRequestId },
  });
}

/** The failure of a secret that nobody waits for. */
export function noFlow(): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: "No flow of the connector waits for a secret.",
    details: { argument: "connectorKey", reason: "no flow waits for a secret" },
  });
}

/** The failure of an argument that can't be a key or an identifier. */
export function unusable(argument: string): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: `The argument ${argument} can't be used.`,
    details: { argument, reason: "malformed" },
  });
}
