export { connect } from "./connect.js";
export {
  type ConnectHttpOptions,
  type ConnectOptions,
  type ConnectStdioOptions,
  type SharedConnectOptions,
} from "./connect-options.js";
export { createEraMemory, type EraMemory, type EraMemoryOptions, type EraRecord } from "./era-memory.js";
export {
  type Era,
  type McpCallOptions,
  type McpClient,
  type McpListAllToolsOptions,
  type McpToolCallOptions,
} from "./mcp-client.js";
export {
  type ClientOptions,
  connectOpener,
  type OpenedServer,
  type OpenServer,
  type ServerOpening,
  type SupervisedCall,
  type SupervisedCallOptions,
  type SupervisedServer,
  type SupervisedState,
  type SuperviseCommandOptions,
  type SuperviseOpenOptions,
  type SuperviseOptions,
  superviseServer,
  type SupervisionOptions,
  type WaitOptions,
} from "./supervision/index.js";
