export { continuationRefused } from "./continuation-refused.js";
export { createStateSealer } from "./create-state-sealer.js";
export type { HeldUpstream, Round } from "./held-call.js";
export { HeldCalls } from "./held-calls.js";
export { type HeldCallConfig, type HeldCallLimits, resolveHeldCallLimits } from "./held-options.js";
export type { OpenedState, SealedContent, StateSealer } from "./state-sealer.js";
export { refuseUndeclared } from "./waiting-asks.js";
