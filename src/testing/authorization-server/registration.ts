import { isJsonObject } from "../../protocol/index.js";
import type { AuthorizationClient, ClientAuthentication } from "./client.js";
import { type JsonAnswer, oauthError } from "./json-answer.js";

/** What a registration comes to. */
export interface Registration {
  readonly answer: JsonAnswer;
  /** `undefined` when it is refused. */
  readonly client: AuthorizationClient | undefined;
}

const AUTHENTICATIONS: ReadonlySet<string> = new Set(["client_secret_basic", "client_secret_post", "none"]);

/** Registers a client by its metadata. Source: RFC 7591. */
export function registerClient(body: Uint8Array, newSecret: (what: string) => string): Registration {
  const metadata = parse(body);
  const redirectUris = metadata?.["redirect_uris"];
  if (!isTexts(redirectUris) || redirectUris.length === 0 || !redirectUris.every((uri) => URL.canParse(uri))) {
    return {
      answer: oauthError("invalid_redirect_uri", "redirect_uris is missing or no list of URIs"),
      client: undefined,
    };
  }
  const authentication = metadata?.["token_endpoint_auth_method"] ?? "client_secret_basic";
  if (!isAuthentication(authentication)) {
    const answer = oauthError("invalid_client_metadata", "token_endpoint_auth_method is not supported");
    return { answer, client: undefined };
  }
  const clientId = newSecret("client");
  const clientSecret = authentication === "none" ? undefined : newSecret("secret");
  const secret = clientSecret === undefined ? {} : { client_secret: clientSecret, client_secret_expires_at: 0 };
  return {
    answer: {
      status: 201,
      body: { ...metadata, client_id: clientId, ...secret, token_endpoint_auth_method: authentication },
    },
    client: { clientId, clientSecret, redirectUris, authentication },
  };
}

function parse(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === "string");
}

function isAuthentication(value: unknown): value is ClientAuthentication {
  return typeof value === "string" && AUTHENTICATIONS.has(value);
}
