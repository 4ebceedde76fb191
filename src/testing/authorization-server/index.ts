export { type Visit } from "./authorization-request.js";
export { type AuthorizationClient, type ClientAuthentication } from "./client.js";
export { type AuthorizationEndpoint, type AuthorizationServerFault } from "./fault.js";
export { type IssuedToken } from "./grant-book.js";
export { type AuthorizationServerOptions, type Consent } from "./options.js";
export { AuthorizationServer, type AuthorizationServerRequest } from "./server.js";
