import { isJsonObject } from "../../protocol/index.js";
import type { AuthorizationClient } from "./client.js";
import { readAuthentication, readKey, readRedirectUris } from "./client-metadata.js";

/** The documents that are found, and how. */
export type FindClientDocument = (url: string) => unknown;

/** Whether a client's id is the URL of its metadata document: https, with a path, without a fragment. */
export function isDocumentUrl(clientId: string): boolean {
  if (!URL.canParse(clientId)) return false;
  const { hash, password, pathname, protocol, username } = new URL(clientId);
  return protocol === "https:" && pathname !== "/" && hash === "" && username === "" && password === "";
}

/**
 * The client of a metadata document, which must name itself; `undefined` for a document that can't be used. Pure.
 * Source: OAuth Client ID Metadata Document.
 */
export function readClientDocument(url: string, document: unknown): AuthorizationClient | undefined {
  if (!isJsonObject(document) || document["client_id"] !== url || document["client_secret"] !== undefined)
    return undefined;
  const redirectUris = readRedirectUris(document);
  const authentication = readAuthentication(document, "none");
  if (redirectUris === undefined || authentication === undefined) return undefined;
  if (authentication !== "none" && authentication !== "private_key_jwt") return undefined;
  return { clientId: url, redirectUris, authentication, publicKey: readKey(document) };
}
