import { RemoteConnectorError } from "../../errors.js";
import type { OAuthClient } from "../oauth-client.js";
import type { ServiceGrant } from "../oauth-options.js";

/**
 * The client that a grant is used with, or `undefined` for a workload that needs none. Pure.
 *
 * Throws `client_identity_required`: `other_issuer` for a client of another authorization server, which is shown nothing of it, `none`
 * where the grant can't do without a client, or, for client credentials, without one that proves who it is. Source: OAuth 2.1, Client
 * Credentials Grant.
 */
export function chooseGrantClient(
  kind: ServiceGrant["kind"],
  issuer: string,
  client: OAuthClient | undefined,
): OAuthClient | undefined {
  if (client === undefined) {
    if (kind === "workload_identity") return undefined;
    throw refusal("There is no client for this authorization server.", { issuer, reason: "none" });
  }
  if (client.issuer !== issuer) {
    const configuredFor = [client.issuer];
    throw refusal("The client belongs to another authorization server.", {
      issuer,
      reason: "other_issuer",
      configuredFor,
    });
  }
  if (kind === "client_credentials" && client.authMethod === "none") {
    throw refusal("The client has neither a secret nor a key.", { issuer, reason: "none" });
  }
  return client;
}

/** The error for a workload's assertion that this authorization server must not see. `configuredFor`: where it may go, if that was said. */
export function assertionElsewhere(
  issuer: string,
  configuredFor?: readonly string[],
): RemoteConnectorError<"client_identity_required"> {
  const details = {
    issuer,
    reason: "other_issuer",
    ...(configuredFor === undefined ? {} : { configuredFor }),
  } as const;
  return refusal("The workload's assertion is for another authorization server.", details);
}

function refusal(
  message: string,
  details: RemoteConnectorError<"client_identity_required">["details"],
): RemoteConnectorError<"client_identity_required"> {
  return new RemoteConnectorError("client_identity_required", { message, details });
}
