/** Authorization for MCP over HTTP: the ports that a store implements. */
export {
  type Credential,
  type CredentialConflict,
  type CredentialKey,
  type CredentialPut,
  type CredentialPutResult,
  type CredentialRemoveResult,
  type CredentialStore,
  type LeaseClaim,
  type LeaseResult,
  type LeaseStore,
} from "./ports.js";
