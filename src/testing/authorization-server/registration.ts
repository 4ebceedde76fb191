import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import type { AuthorizationClient, ClientAuthentication } from "./client.js";
import { readAuthentication, readKey, readRedirectUris } from "./client-metadata.js";
import { type JsonAnswer, oauthError } from "./json-answer.js";

/** What a registration comes to. */
export interface Registration {
  readonly answer: JsonAnswer;
  /** `undefined` when it is refused. */
  readonly client: AuthorizationClient | undefined;
}

/** Registers a client by its metadata, with one of the ways to authenticate. Source: RFC 7591. */
export function registerClient(
  body: Uint8Array,
  methods: readonly ClientAuthentication[],
  newSecret: (what: string) => string,
): Registration {
  const metadata = parse(body);
  const redirectUris = readRedirectUris(metadata);
  if (redirectUris === undefined) {
    return refuse("invalid_redirect_uri", "redirect_uris is missing or no list of URIs");
  }
  const authentication = readAuthentication(metadata, "client_secret_basic");
  if (authentication === undefined || !methods.includes(authentication)) {
    return refuse("invalid_client_metadata", "token_endpoint_auth_method is not supported");
  }
  const publicKey = readKey(metadata);
  if (authentication === "private_key_jwt" && publicKey === undefined) {
    return refuse("invalid_client_metadata", "jwks is missing");
  }
  const clientId = newSecret("client");
  const hasSecret = authentication === "client_secret_basic" || authentication === "client_secret_post";
  const clientSecret = hasSecret ? newSecret("secret") : undefined;
  const secret = clientSecret === undefined ? {} : { client_secret: clientSecret, client_secret_expires_at: 0 };
  return {
    answer: {
      status: 201,
      body: { ...metadata, client_id: clientId, ...secret, token_endpoint_auth_method: authentication },
    },
    client: { clientId, clientSecret, publicKey: hasSecret ? undefined : publicKey, redirectUris, authentication },
  };
}

function refuse(error: string, description: string): Registration {
  return { answer: oauthError(error, description), client: undefined };
}

function parse(body: Uint8Array): JsonObject {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString("utf8"));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
