/** Who the client is at an authorization server, and what is kept of that. */
export { ClientBook, type KeptClient } from "./client-book.js";
export { type IdentityConfig, resolveIdentity } from "./identity-config.js";
export { clientMetadataDocument, type MetadataDocumentOptions } from "./metadata-document.js";
export { type IdentityFacts, planIdentity } from "./plan-identity.js";
export { registerClient } from "./register-client.js";
