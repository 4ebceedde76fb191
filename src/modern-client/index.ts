export {
  type GatewayRefusal,
  gatewayRefusalOf,
  type RetryAdvice,
  retryAdvice,
  type RetrySituation,
  type DetailedResult,
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
  type ToolCallOptions,
} from "./call-options.js";
export { type ModernStreamableHTTPClientOptions } from "./client-options.js";
export {
  type FormAnswer,
  type FormRequest,
  type InputContext,
  type InputHandlers,
  type Root,
  type UrlAnswer,
  type UrlRequest,
} from "./input/index.js";
export { type CompletionParams, type ListParams, type PromptParams, type ResourceParams } from "./method-params.js";
export { ModernStreamableHTTPClient } from "./modern-streamable-http-client.js";
