import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import { CLIENT_AUTHENTICATIONS, type ClientAuthentication } from "./client.js";

/** The redirect URIs of a client's metadata; `undefined` for none, or for anything else. Source: RFC 7591, Client Metadata. */
export function readRedirectUris(metadata: JsonObject): readonly string[] | undefined {
  const uris = metadata["redirect_uris"];
  return Array.isArray(uris) && uris.length > 0 && uris.every(isUri) ? uris : undefined;
}

/** How the client will authenticate; `undefined` for a way that nobody knows. */
export function readAuthentication(
  metadata: JsonObject,
  otherwise: ClientAuthentication,
): ClientAuthentication | undefined {
  const named = metadata["token_endpoint_auth_method"] ?? otherwise;
  return CLIENT_AUTHENTICATIONS.find((known) => known === named);
}

/** The first key of `jwks`. */
export function readKey(metadata: JsonObject): JsonObject | undefined {
  const jwks = metadata["jwks"];
  const keys: unknown = isJsonObject(jwks) ? jwks["keys"] : undefined;
  const key: unknown = Array.isArray(keys) ? keys[0] : undefined;
  return isJsonObject(key) ? key : undefined;
}

function isUri(value: unknown): value is string {
  return typeof value === "string" && URL.canParse(value);
}
