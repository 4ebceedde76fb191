export * from "./connect/index.js";
export * from "./errors.js";
export {
  type LegacyCallOptions,
  LegacyClient,
  type LegacyClientOptions,
  type LegacyListAllToolsOptions,
  LegacySSEClient,
  type LegacySSEClientOptions,
  LegacyStdioClient,
  type LegacyStdioOptions,
  LegacyStreamableHTTPClient,
  type LegacyStreamableHTTPClientOptions,
} from "./legacy-client/index.js";
export * from "./modern-client/index.js";
export { type Diagnostic, type LegacyRevision, type ModernRevision, type Revision } from "./protocol/index.js";
export * from "./result-projection/index.js";
