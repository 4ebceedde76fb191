import { refuseOption, refuseUnknownOptions } from "../../options.js";
import { applicationType, documentUrlFault, isRedirectUri } from "./client-urls.js";

/** What a client says of itself at a URL of its own. */
export interface MetadataDocumentOptions {
  /** Where the document will be: https, with a path. */
  readonly url: string;
  readonly clientName: string;
  readonly clientUri?: string | undefined;
  readonly logoUri?: string | undefined;
  /** All that are ever sent; a loopback one stands for any port at most authorization servers. At least one. */
  readonly redirectUris: readonly string[];
  readonly scopes?: readonly string[] | undefined;
}

const NAMES: readonly (keyof MetadataDocumentOptions)[] = [
  "clientName",
  "clientUri",
  "logoUri",
  "redirectUris",
  "scopes",
  "url",
];

/**
 * Makes the metadata document of a client, to be published as JSON at exactly this URL, which is the client's id and goes into
 * `identity.metadataDocument`. The client is a public one. Throws `invalid_options`.
 *
 * Source: 2026-07-28, Client Registration, Client ID Metadata Documents.
 */
export function clientMetadataDocument(options: MetadataDocumentOptions): Readonly<Record<string, unknown>> {
  refuseUnknownOptions(options, NAMES);
  const { clientName, clientUri, logoUri, redirectUris, scopes = [], url } = options;
  const fault = documentUrlFault(url);
  if (fault !== undefined) refuseOption("url", fault);
  if (typeof clientName !== "string" || clientName === "")
    refuseOption("clientName", "must be a text that is not empty");
  if (!Array.isArray(redirectUris) || redirectUris.length === 0 || !redirectUris.every(isRedirectUri)) {
    refuseOption("redirectUris", "must be a list of absolute URLs without a fragment, http only on loopback");
  }
  return {
    client_id: url,
    client_name: clientName,
    ...(clientUri === undefined ? {} : { client_uri: clientUri }),
    ...(logoUri === undefined ? {} : { logo_uri: logoUri }),
    redirect_uris: [...redirectUris],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    application_type: applicationType(redirectUris),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
  };
}
