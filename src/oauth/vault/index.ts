/** Where tokens and registrations are kept. */
export { openFileStore } from "./file-oauth-store.js";
export type { Keychain } from "./keychain.js";
export { memoryOAuthStore } from "./memory-oauth-store.js";
export { openVaultKey, type VaultKeyOptions } from "./open-vault-key.js";
export { sealedCredentials, sealedStore, type SealingOptions } from "./sealed-credentials.js";
export type { VaultLimits } from "./store-limits.js";
export { createVaultKey, type CreateVaultKeyOptions, type VaultKey } from "./vault-key.js";
export type { FileStoreOptions } from "./vault-options.js";
