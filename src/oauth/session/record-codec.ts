import { z } from "zod";
import { RemoteConnectorError } from "../../errors.js";
import { shownUrl } from "../../transport/index.js";
import type { GrantRecord } from "../grant-record.js";
import type { OAuthClient } from "../oauth-client.js";
import type { TokenSet } from "../token-set.js";

/** The form of the text. Another one is refused: it was written by a newer version. */
const VERSION = 1;

const time = z.number().int().nonnegative();
const scopes = z.array(z.string()).readonly();

const clientShape = z.strictObject({
  kind: z.enum(["pre_registered", "metadata_document", "dynamic"]),
  issuer: z.string().min(1),
  // Empty for a workload, which may have no client.
  clientId: z.string(),
  clientSecret: z.string().optional(),
  secretExpiresAt: time.optional(),
  authMethod: z.enum(["client_secret_basic", "client_secret_post", "none", "private_key_jwt"]),
  redirectUris: z.array(z.string()).readonly(),
});

const tokensShape = z.strictObject({
  accessToken: z.string().min(1),
  tokenType: z.enum(["Bearer", "DPoP"]),
  expiresAt: z.number().int().optional(),
  refreshToken: z.string().min(1).optional(),
  scopes: scopes.optional(),
});

const grantShape = z.strictObject({
  version: z.literal(VERSION),
  endpoint: z.string().min(1),
  resource: z.string().optional(),
  issuer: z.string().min(1),
  client: clientShape,
  tokenEndpoint: z.string().min(1),
  tokens: tokensShape.optional(),
  requestedScopes: scopes,
  refusedScopes: scopes,
  dpopKey: z.record(z.string(), z.unknown()).readonly().optional(),
});

/**
 * A record as the text of a credential: JSON with a version. A client's signing key is never in it, nor the secret of a client that was
 * registered by hand: both are taken from the options again. Pure.
 */
export function printGrant(record: GrantRecord): string {
  const { client, ...rest } = record;
  const { signingKey: _never, ...kept } = client;
  const clientSecret = client.kind === "dynamic" ? client.clientSecret : undefined;
  return JSON.stringify({ version: VERSION, ...rest, client: { ...kept, clientSecret } });
}

/**
 * The record of a credential's text, which has to be one of this endpoint. Pure.
 *
 * Throws `oauth_invalid` with the subject `credential` for anything else; nothing of the text is shown.
 */
export function parseGrant(text: string, endpoint: string): GrantRecord {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return refuse(endpoint, "", "is no JSON");
  }
  const parsed = grantShape.safeParse(json);
  if (!parsed.success) return refuse(endpoint, parsed.error.issues[0]?.path.join(".") ?? "", "is not what was written");
  const { client, tokens, dpopKey, resource, version: _version, ...rest } = parsed.data;
  if (rest.endpoint !== endpoint) return refuse(endpoint, "endpoint", "is another endpoint");
  if (client.issuer !== rest.issuer) return refuse(endpoint, "client.issuer", "is another issuer");
  return { ...rest, resource, client: clientOf(client), tokens: tokens && tokensOf(tokens), dpopKey };
}

function clientOf({ clientSecret, secretExpiresAt, ...rest }: z.infer<typeof clientShape>): OAuthClient {
  return { ...rest, clientSecret, secretExpiresAt, signingKey: undefined };
}

function tokensOf({ expiresAt, refreshToken, scopes: granted, ...rest }: z.infer<typeof tokensShape>): TokenSet {
  return { ...rest, expiresAt, refreshToken, scopes: granted };
}

function refuse(endpoint: string, member: string, reason: string): never {
  const url = shownUrl(new URL(endpoint));
  throw new RemoteConnectorError("oauth_invalid", {
    message: `What is stored for ${url} can't be used: ${member === "" ? "it" : member} ${reason}.`,
    details: { subject: "credential", url, member, reason },
  });
}
