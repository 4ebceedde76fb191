import type { RemoteConnectorError } from "../../errors.js";
import type { JsonObject } from "../../protocol/index.js";
import { chooseAuthMethod } from "../auth-method.js";
import type { ServerMetadata } from "../authorization-server.js";
import type { ClientAuthMethod, OAuthClient } from "../oauth-client.js";
import { hasError, invalidAnswer, objectIn, refusalOf } from "../refused-answer.js";
import type { OAuthAnswer } from "../requester.js";
import { applicationType } from "./client-urls.js";

/** What a client says of itself when it registers. */
export interface Registration {
  readonly clientName: string;
  readonly clientUri?: string | undefined;
  /** At least one, for the code flow. */
  readonly redirectUris: readonly string[];
  /** Those that will be asked for, as far as they are known. */
  readonly scopes?: readonly string[] | undefined;
  /** How it can authenticate, the best first. Default: `client_secret_basic`, `client_secret_post`, `none`. */
  readonly authMethods?: readonly ClientAuthMethod[] | undefined;
}

/** The body of a registration. `token_endpoint_auth_method` is left out when the two sides have none in common. */
export interface RegistrationBody extends Readonly<Record<string, unknown>> {
  readonly token_endpoint_auth_method?: ClientAuthMethod;
}

const METHODS: readonly ClientAuthMethod[] = ["client_secret_basic", "client_secret_post", "none"];

/**
 * What is sent to register. A server that lists no methods is taken at the word of its standard, which is `client_secret_basic`.
 * Source: RFC 7591, Client Metadata; RFC 8414; 2026-07-28, Client Registration, Application Type and Redirect URI Constraints.
 */
export function registrationBody(
  { authMethods = METHODS, clientName, clientUri, redirectUris, scopes = [] }: Registration,
  { token_endpoint_auth_methods_supported: supported = ["client_secret_basic"] }: ServerMetadata,
): RegistrationBody {
  const method = authMethods.find((each) => supported.includes(each));
  return {
    client_name: clientName,
    ...(clientUri === undefined ? {} : { client_uri: clientUri }),
    redirect_uris: [...redirectUris],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    ...(method === undefined ? {} : { token_endpoint_auth_method: method }),
    application_type: applicationType(redirectUris),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
  };
}

/** What an answer to a registration is read with. */
export interface RegistrationContext {
  readonly server: ServerMetadata;
  readonly body: RegistrationBody;
  readonly redirectUris: readonly string[];
  /** Unix time in milliseconds. */
  readonly wallNow: number;
}

/**
 * Reads the answer to a registration as servers write them: 200 or 201, an id, and perhaps a secret. A time of its end that is missing, no
 * number, zero or already over means that it has none; an empty secret is none; a method that the client can't do is not the one it has.
 *
 * Throws `oauth_refused` (step `registration`) for an error and any other status, `oauth_invalid` for an answer without an id.
 * Source: RFC 7591, Client Information Response, and Client Registration Error Response.
 */
export function parseRegistration(answer: OAuthAnswer, context: RegistrationContext): OAuthClient {
  const { body, redirectUris, server, wallNow } = context;
  const { issuer } = server;
  const json = objectIn(answer);
  const isRegistered = answer.status === 200 || answer.status === 201;
  if (!isRegistered || (json !== undefined && json["client_id"] === undefined && hasError(json))) {
    throw refusalOf(answer, { step: "registration", issuer });
  }
  if (json === undefined) throw invalid(answer, "", "is no JSON object");
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: registered } = json;
  if (typeof clientId !== "string" || clientId === "") throw invalid(answer, "client_id", "is missing or no text");
  if (secret !== undefined && secret !== null && typeof secret !== "string") {
    throw invalid(answer, "client_secret", "is no text");
  }
  // An empty one proves nothing.
  const clientSecret = typeof secret === "string" && secret !== "" ? secret : undefined;
  const authMethod = chooseAuthMethod({
    registered: typeof registered === "string" ? registered : undefined,
    asked: body.token_endpoint_auth_method,
    supported: server.token_endpoint_auth_methods_supported,
    hasSecret: clientSecret !== undefined,
    hasKey: false,
  });
  return {
    kind: "dynamic",
    issuer,
    clientId,
    // What is never shown is not kept.
    clientSecret: authMethod === "none" ? undefined : clientSecret,
    secretExpiresAt: authMethod === "none" ? undefined : readExpiry(json, wallNow),
    authMethod,
    signingKey: undefined,
    redirectUris,
  };
}

function readExpiry({ client_secret_expires_at: seconds }: JsonObject, wallNow: number): number | undefined {
  if (typeof seconds !== "number") return undefined;
  const at = Math.floor(seconds * 1_000);
  return Number.isSafeInteger(at) && at > wallNow ? at : undefined;
}

function invalid(answer: OAuthAnswer, member: string, reason: string): RemoteConnectorError<"oauth_invalid"> {
  return invalidAnswer(answer, { subject: "registration", member, reason });
}
