export {
  type AssertionVerdict,
  type ExchangeToken,
  type ExchangeVerdict,
  type GrantRefusal,
  type GrantRequest,
  type JudgeAssertion,
} from "./assertion.js";
export { type Visit } from "./authorization-request.js";
export { type FindClientDocument } from "./client-document.js";
export { type AuthorizationClient, type ClientAuthentication } from "./client.js";
export { type AuthorizationEndpoint, type AuthorizationServerFault } from "./fault.js";
export { type IssuedToken } from "./grant-book.js";
export { type JsonAnswer } from "./json-answer.js";
export { type MetadataForm } from "./metadata-place.js";
export {
  type AuthorizationRules,
  type AuthorizationServerOptions,
  type Consent,
  type RewriteAnswer,
} from "./options.js";
export { type AuthorizationServerRequest } from "./received.js";
export { AuthorizationServer } from "./server.js";
