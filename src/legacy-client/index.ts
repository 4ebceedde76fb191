export { type DetailedResult, type ToolCall, type ToolList, type WithDetail } from "../protocol/index.js";
export { type ProcessExit } from "../transport/process/index.js";
export { type LegacyCallOptions, type LegacyListAllToolsOptions } from "./call-options.js";
export { LegacyStdioClient } from "./stdio-client.js";
export { type LegacyStdioOptions } from "./stdio-options.js";
