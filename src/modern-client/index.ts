export {
  type CallOptions,
  type DetailedResult,
  type ListAllToolsOptions,
  type ToolCallOptions,
  type WithDetail,
} from "./call-options.js";
export { type ModernStreamableHTTPClientOptions } from "./client-options.js";
export { type AllTools, ModernStreamableHTTPClient, type ToolCall } from "./modern-streamable-http-client.js";
