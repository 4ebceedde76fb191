export {
  type AccountAuthorizations,
  type AuthorizationChange,
  type AuthorizationState,
  type ChangeOutcome,
  type Connection,
  type ConnectionState,
} from "./authorization-state.js";
export { createGateway, type Gateway } from "./gateway.js";
export { createMemoryState } from "./memory-state.js";
export {
  type GatewayAccount,
  type GatewayConnector,
  type GatewayOptions,
  type HttpUpstream,
  type StdioUpstream,
} from "./options.js";
