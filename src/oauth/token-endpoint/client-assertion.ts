import type { JWTPayload } from "jose";
import { RemoteConnectorError } from "../../errors.js";
import type { ServerMetadata } from "../authorization-server.js";
import type { OAuthClient } from "../oauth-client.js";
import { readSigningKey } from "../signing-key.js";

/** What assertions are made with. */
export interface AssertionPorts {
  /** Unix time in milliseconds. */
  readonly wallNow: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

const LIFETIME_S = 60;
const ID_BYTES = 16;

/** What a client says of itself to one authorization server, once. Source: RFC 7523, JWT Format and Processing Requirements. */
export function assertionClaims(
  clientId: string,
  issuer: string,
  { randomBytes, wallNow }: AssertionPorts,
): JWTPayload {
  const now = Math.floor(wallNow() / 1_000);
  const jti = Buffer.from(randomBytes(ID_BYTES)).toString("base64url");
  return { iss: clientId, sub: clientId, aud: issuer, jti, iat: now, exp: now + LIFETIME_S };
}

/**
 * The signed assertion of a client, for one request. It is signed with an algorithm that the server lists, where the key leaves a choice.
 * Rejects with `invalid_options` for a key that can't sign.
 */
export async function signAssertion(
  client: OAuthClient,
  server: ServerMetadata,
  ports: AssertionPorts,
): Promise<string> {
  const read = client.signingKey === undefined ? "is missing" : readSigningKey(client.signingKey);
  if (typeof read === "string") throw unusableKey(read);
  const { algorithms, key, keyId } = read;
  const listed = server.token_endpoint_auth_signing_alg_values_supported;
  const alg = algorithms.find((each) => listed?.includes(each) === true) ?? algorithms[0];
  const { SignJWT } = await import("jose");
  return new SignJWT(assertionClaims(client.clientId, server.issuer, ports))
    .setProtectedHeader({ alg, ...(keyId === undefined ? {} : { kid: keyId }) })
    .sign(key);
}

function unusableKey(reason: string): RemoteConnectorError<"invalid_options"> {
  return new RemoteConnectorError("invalid_options", {
    message: `The signing key of the client ${reason}.`,
    details: { option: "signingKey", reason },
  });
}
