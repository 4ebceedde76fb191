import { z } from "zod";
import { RemoteConnectorError } from "../../errors.js";
import { parseJson } from "../../protocol/index.js";
import type { OAuthClient } from "../oauth-client.js";
import type { Credential } from "../ports.js";

const VERSION = 1;
const TEXT = z.string().min(1);

const REGISTRATION = z.strictObject({
  version: z.literal(VERSION),
  kind: z.literal("registration"),
  issuer: TEXT,
  clientId: TEXT,
  clientSecret: TEXT.optional(),
  secretExpiresAt: z.int().optional(),
  authMethod: z.enum(["client_secret_basic", "client_secret_post", "none"]),
  redirectUris: z.array(TEXT),
});

const BINDING = z.strictObject({
  version: z.literal(VERSION),
  kind: z.literal("binding"),
  clientId: TEXT,
  issuer: TEXT,
});

/** The text that a dynamic registration is kept as. */
export function registrationText(client: OAuthClient): string {
  const { authMethod, clientId, clientSecret, issuer, redirectUris, secretExpiresAt } = client;
  const kept = { issuer, clientId, clientSecret, secretExpiresAt, authMethod, redirectUris };
  return JSON.stringify({ version: VERSION, kind: "registration", ...kept });
}

/** The client of a row. Throws `oauth_invalid` for one that is damaged, of another version, or of another issuer. */
export function parseRegistrationRow(row: Credential, issuer: string): OAuthClient {
  const { data } = REGISTRATION.safeParse(parseJson(row.text));
  if (data === undefined) throw damaged(row, "can't be read");
  if (data.issuer !== issuer) throw damaged(row, "is of another issuer");
  const { authMethod, clientId, clientSecret, redirectUris, secretExpiresAt } = data;
  if (authMethod !== "none" && clientSecret === undefined) throw damaged(row, "lacks its secret");
  return {
    kind: "dynamic",
    issuer,
    clientId,
    clientSecret,
    secretExpiresAt,
    authMethod,
    signingKey: undefined,
    redirectUris,
  };
}

/** The text that it is kept as where a client belongs. */
export function bindingText(clientId: string, issuer: string): string {
  return JSON.stringify({ version: VERSION, kind: "binding", clientId, issuer });
}

/** The issuer that a client belongs to. Throws `oauth_invalid` for a row that is damaged, of another version, or of another client. */
export function parseBindingRow(row: Credential, clientId: string): string {
  const { data } = BINDING.safeParse(parseJson(row.text));
  if (data === undefined) throw damaged(row, "can't be read");
  if (data.clientId !== clientId) throw damaged(row, "is of another client");
  return data.issuer;
}

/** Nothing of the row is shown but where it is. */
function damaged({ name, resource }: Credential, reason: string): RemoteConnectorError<"oauth_invalid"> {
  return new RemoteConnectorError("oauth_invalid", {
    message: `What is kept of a client ${reason}: ${name}.`,
    details: { subject: "credential", url: resource, member: name, reason },
  });
}
