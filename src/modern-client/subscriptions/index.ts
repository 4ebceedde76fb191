export { type BufferLimits, ItemBuffer } from "./item-buffer.js";
export { type KeptItem, type KeptSubscription } from "./kept-subscription.js";
export {
  checkListenOptions,
  type KeepListeningOptions,
  type ListenOptions,
  resolveBufferLimits,
} from "./listen-options.js";
export { Acknowledgement, type Subscription } from "./subscription.js";
export { type RefusalReason, type SubscriptionEnd } from "./subscription-end.js";
export { isCovered, type SubscriptionFilter } from "./subscription-filter.js";
export { Subscriptions } from "./subscriptions.js";
