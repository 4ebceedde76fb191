import { RemoteConnectorError } from "../../errors.js";
import type { ServerMetadata } from "../authorization-server.js";
import type { OAuthClient } from "../oauth-client.js";
import type { OAuthAnswer, OAuthRequester } from "../requester.js";
import { authenticate } from "./authenticate.js";
import type { AssertionPorts } from "./client-assertion.js";

/** A form that a client sends to an endpoint of its authorization server. */
export interface ClientForm extends AssertionPorts {
  readonly server: ServerMetadata;
  /** `undefined`: nothing says who it is, as with an assertion that says all. */
  readonly client: OAuthClient | undefined;
  readonly url: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** The `DPoP` header. */
  readonly proof?: string | undefined;
}

/**
 * Sends a form once, with what shows who the client is. Rejects with `client_identity_required` (`other_issuer`) for a client of another
 * server, which is shown nothing, and as {@link OAuthRequester} and {@link authenticate} do.
 */
export async function postForm(
  requester: OAuthRequester,
  form: ClientForm,
  signal: AbortSignal | undefined,
): Promise<OAuthAnswer> {
  const { client, parameters, proof, server, url } = form;
  if (client !== undefined && client.issuer !== server.issuer) throw otherIssuer(server.issuer, client.issuer);
  const shown = client === undefined ? undefined : await authenticate(client, server, form);
  const headers = { ...shown?.headers, ...(proof === undefined ? {} : { DPoP: proof }) };
  const body = new URLSearchParams({ ...parameters, ...shown?.parameters }).toString();
  return requester.post({ url, contentType: "application/x-www-form-urlencoded", body, headers }, signal);
}

/** The URL of the token endpoint. Throws `oauth_invalid` for metadata without one. */
export function tokenEndpointOf({ issuer, token_endpoint: url }: ServerMetadata): string {
  if (url !== undefined) return url;
  throw new RemoteConnectorError("oauth_invalid", {
    message: "The authorization server's metadata lack a token endpoint.",
    details: { subject: "server_metadata", url: issuer, member: "token_endpoint", reason: "missing" },
  });
}

function otherIssuer(issuer: string, owner: string): RemoteConnectorError<"client_identity_required"> {
  return new RemoteConnectorError("client_identity_required", {
    message: `The client is not one of ${issuer} but of ${owner}.`,
    details: { issuer, reason: "other_issuer", configuredFor: [owner] },
  });
}
