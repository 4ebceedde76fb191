export * from "./connect/index.js";
export * from "./errors.js";
export {
  type LegacyCallOptions,
  LegacyClient,
  type LegacyClientOptions,
  type LegacyListAllToolsOptions,
  LegacyStdioClient,
  type LegacyStdioOptions,
  LegacyStreamableHTTPClient,
  type LegacyStreamableHTTPClientOptions,
} from "./legacy-client/index.js";
export * from "./modern-client/index.js";
