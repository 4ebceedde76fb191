export {
  type DetailedResult,
  type EntryList,
  type ToolCall,
  type ToolList,
  type WithDetail,
} from "../protocol/index.js";
export { type ProcessExit } from "../transport/process/index.js";
export { type LegacyCallOptions, type LegacyListAllToolsOptions } from "./call-options.js";
export { LegacyClient } from "./client.js";
export { type LegacyClientOptions } from "./client-options.js";
export {
  LegacySSEClient,
  type LegacySSEClientOptions,
  LegacyStreamableHTTPClient,
  type LegacyStreamableHTTPClientOptions,
} from "./http/index.js";
export { type CompletionParams, type ListParams, type PromptParams, type ResourceParams } from "./method-params.js";
export { LegacyStdioClient } from "./stdio-client.js";
export { type LegacyStdioOptions } from "./stdio-options.js";
