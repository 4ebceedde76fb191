/** Authorization for MCP over HTTP. */
export {
  type CallbackOutcome,
  loopbackReceiver,
  type LoopbackReceiverOptions,
  systemOpener,
  type SystemOpenerOptions,
} from "./code-flow/index.js";
export { createOAuth } from "./create-oauth.js";
export { clientMetadataDocument, type MetadataDocumentOptions } from "./identity/index.js";
export {
  createVaultKey,
  type CreateVaultKeyOptions,
  type FileStoreOptions,
  type Keychain,
  memoryOAuthStore,
  openFileStore,
  openVaultKey,
  sealedCredentials,
  sealedStore,
  type SealingOptions,
  type VaultKey,
  type VaultKeyOptions,
  type VaultLimits,
} from "./vault/index.js";
/** The ports that a store implements. */
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
export type { AuthorizationChallenge, ProtectedResource } from "./protected-resource.js";
export type { CallbackReceiver, CallbackSession, OpenUrl } from "./interaction.js";
export type { ClientAuthMethod, OAuthClient, SigningKey } from "./oauth-client.js";
export type {
  ClientIdentityOptions,
  OAuthEvent,
  OAuthOptions,
  OAuthStore,
  OAuthTransportOptions,
  PreRegisteredClient,
  ServiceGrant,
} from "./oauth-options.js";
export type { AccountOptions, OAuth, SignedInAccount, SignInOptions, StartedSignIn } from "./oauth.js";
