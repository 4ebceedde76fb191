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
