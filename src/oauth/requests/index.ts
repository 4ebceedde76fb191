/** The requests of authorization: guarded, bounded, and without anything that is configured for the MCP server. */
export { createRequester } from "./create-requester.js";
export { parseOAuthUrl } from "./oauth-url.js";
export { resolveRequester } from "./resolve-requester.js";
