export {
  type AccountAuthorizations,
  type AuthorizationChange,
  type AuthorizationState,
  type ChangeOutcome,
  type Connection,
  type ConnectionState,
} from "./authorization-state.js";
export { type Fault, type FaultPlace, type GatewayFault } from "./faults.js";
export { createGateway } from "./create-gateway.js";
export { type Gateway, type GatewayFaults } from "./gateway.js";
export { createMemoryState } from "./memory-state.js";
export {
  type ConnectorOffer,
  type GatewayAccount,
  type GatewayConnector,
  type GatewayOptions,
  type HttpUpstream,
  type OAuthAuthorizing,
  type SecretAuthorizing,
  type StdioUpstream,
} from "./options.js";
