import type { ServerMetadata } from "../authorization-server.js";
import type { OAuthClient } from "../oauth-client.js";
import { basicCredentials } from "./basic-credentials.js";
import { type AssertionPorts, signAssertion } from "./client-assertion.js";

const JWT_BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** What shows who a client is: parameters of the form, and headers. */
export interface Authentication {
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Makes what shows one request's sender to be the client, by the client's own method. Rejects with `invalid_options` for a signing key that
 * can't sign. Source: RFC 6749, Client Password; RFC 7523, Using JWTs for Client Authentication.
 */
export async function authenticate(
  client: OAuthClient,
  server: ServerMetadata,
  ports: AssertionPorts,
): Promise<Authentication> {
  const { authMethod, clientId, clientSecret = "" } = client;
  const parameters = { client_id: clientId };
  switch (authMethod) {
    case "client_secret_basic":
      return { parameters: {}, headers: { Authorization: basicCredentials(clientId, clientSecret) } };
    case "client_secret_post":
      return { parameters: { ...parameters, client_secret: clientSecret }, headers: {} };
    case "private_key_jwt": {
      const assertion = await signAssertion(client, server, ports);
      const shown = { client_assertion_type: JWT_BEARER, client_assertion: assertion };
      return { parameters: { ...parameters, ...shown }, headers: {} };
    }
    case "none":
      return { parameters, headers: {} };
  }
}
