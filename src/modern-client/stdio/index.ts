export { StdioChannel } from "./stdio-channel.js";
export { type ModernStdioClientOptions, resolveModernStdioOptions } from "./stdio-options.js";
