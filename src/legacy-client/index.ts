export {
  type CompletionParams,
  type DetailedResult,
  type EntryList,
  type ListParams,
  type PromptParams,
  type ResourceParams,
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
export { LegacyStdioClient } from "./stdio-client.js";
export { type LegacyStdioOptions } from "./stdio-options.js";
