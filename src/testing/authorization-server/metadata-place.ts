/**
 * Where metadata can be: RFC 8414's place, that of OpenID Connect with the issuer's path behind the well-known part, and that with the
 * path before it. The last two are one for an issuer without a path.
 */
export type MetadataForm = "oauth" | "openid" | "openid_appended";

/** Where a document is. Source: 2026-07-28, Authorization Server Discovery. */
export function metadataPath(form: MetadataForm, issuerPath: string): string {
  if (form === "oauth") return `/.well-known/oauth-authorization-server${issuerPath}`;
  return form === "openid"
    ? `/.well-known/openid-configuration${issuerPath}`
    : `${issuerPath}/.well-known/openid-configuration`;
}

/** Whether a client looks for metadata there, whatever is there. */
export function isMetadataPath(path: string): boolean {
  return path.includes("/.well-known/");
}
