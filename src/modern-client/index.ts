export { type DetailedResult, type ToolCall, type ToolList, type WithDetail } from "../protocol/index.js";
export { type CallOptions, type ListAllToolsOptions, type ToolCallOptions } from "./call-options.js";
export { type ModernStreamableHTTPClientOptions } from "./client-options.js";
export { ModernStreamableHTTPClient } from "./modern-streamable-http-client.js";
