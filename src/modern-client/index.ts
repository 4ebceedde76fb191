export {
  type GatewayRefusal,
  gatewayRefusalOf,
  type RetryAdvice,
  retryAdvice,
  type RetrySituation,
  type CompletionParams,
  type DetailedResult,
  type ListParams,
  type PromptParams,
  type ResourceParams,
  type ToolCall,
  type ToolList,
  type WithDetail,
} from "../protocol/index.js";
export {
  type CallOptions,
  type DetailedToolResult,
  type InputRequiredResult,
  type ListAllToolsOptions,
  type ManualInput,
  type NotifyOptions,
  type TaskOptions,
  type ToolCallOptions,
} from "./call-options.js";
export { type ModernClientOptions } from "./client-options.js";
export { type ModernStreamableHTTPClientOptions } from "./http-client-options.js";
export {
  type FormAnswer,
  type FormRequest,
  type InputContext,
  type InputHandlers,
  type Root,
  type UrlAnswer,
  type UrlRequest,
} from "../protocol/input/index.js";
export { type ResponseCacheOptions } from "./response-cache.js";
export { type Task, type TaskState, type TaskStatus } from "./task-types.js";
export { type TaskHandle, type TaskUpdate } from "./tasks/index.js";
export { ModernClient } from "./modern-client.js";
export { ModernStdioClient } from "./modern-stdio-client.js";
export { type ModernStdioClientOptions } from "./stdio/index.js";
export { ModernStreamableHTTPClient } from "./modern-streamable-http-client.js";
export {
  type KeepListeningOptions,
  type KeptItem,
  type KeptSubscription,
  type ListenOptions,
  type RefusalReason,
  type Subscription,
  type SubscriptionEnd,
  type SubscriptionFilter,
} from "./subscriptions/index.js";
