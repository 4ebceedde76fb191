export { ItemBuffer } from "./item-buffer.js";
export { type KeptItem, type KeptSubscription } from "./kept-subscription.js";
export { type KeepListeningOptions, type ListenOptions } from "./listen-options.js";
export { Acknowledgement, type Subscription } from "./subscription.js";
export { type RefusalReason, type SubscriptionEnd } from "./subscription-end.js";
export { checkFilter, isCovered, type SubscriptionFilter } from "./subscription-filter.js";
export { Subscriptions } from "./subscriptions.js";
