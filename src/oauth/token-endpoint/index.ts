/** What is asked of token and revocation endpoints, by whatever grant, and what their answers mean. */
export { basicCredentials } from "./basic-credentials.js";
export { type IssuedAssertion, requestAssertion, requestToken, type TokenRequest } from "./request-token.js";
export { revokeToken } from "./revoke-token.js";
export { isClientRefusal, isLastingRefusal, isTransient } from "./token-failure.js";
