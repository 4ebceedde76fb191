export { Authorizer } from "./authorizer.js";
export { invalidRequest, notFound, sendControlError } from "./control-error.js";
export { canCarry, type Credential, lastingCredential, wipeCredential } from "./credential.js";
export { CredentialVault } from "./credential-vault.js";
export { parseProviderUrl } from "./provider-url.js";
export { SessionEndpoint } from "./session-endpoint.js";
