export type { CallbackOutcome } from "./callback-page.js";
export { loopbackReceiver, type LoopbackReceiverOptions } from "./loopback-receiver.js";
export {
  type AuthorizationPreparation,
  type PendingAuthorization,
  prepareAuthorization,
} from "./prepare-authorization.js";
export { readCallback } from "./read-callback.js";
export { redeemParameters } from "./redeem-parameters.js";
export { type ScopeGrounds, selectScopes } from "./select-scopes.js";
export { systemOpener, type SystemOpenerOptions } from "./system-opener.js";
