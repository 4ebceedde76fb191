export { type LegacyCallOptions, type LegacyDetailedResult, type LegacyListAllToolsOptions } from "./call-options.js";
export { LegacyStdioClient, type LegacyToolCall, type LegacyToolList } from "./stdio-client.js";
export { type LegacyStdioOptions } from "./stdio-options.js";
export { type ProcessExit } from "../transport/process/index.js";
