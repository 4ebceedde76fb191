/** From a refused request to an authorization server's metadata. */
export { checkCodeFlow } from "./check-code-flow.js";
export { chooseIssuer } from "./choose-issuer.js";
export { discoverResource } from "./discover-resource.js";
export { discoverServer } from "./discover-server.js";
export { matchesResource } from "./matches-resource.js";
export { resourceMetadataUrls, serverMetadataUrls } from "./well-known-urls.js";
