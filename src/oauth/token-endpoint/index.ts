/** What is asked of token and revocation endpoints, by whatever grant, and what their answers mean. */
export { type AuthMethodFacts, chooseAuthMethod } from "../auth-method.js";
export { basicCredentials } from "./basic-credentials.js";
export { type IssuedAssertion, requestAssertion, requestToken, type TokenRequest } from "./request-token.js";
export { type Revocation, revokeToken } from "./revoke-token.js";
export { isClientRefusal, isLastingRefusal, isTransient, type TokenStep } from "./token-failure.js";
