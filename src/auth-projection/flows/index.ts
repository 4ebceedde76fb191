export { AuthorizationFlows, type AuthorizeOptions } from "./authorization-flows.js";
export { type DisconnectResult } from "./disconnecting.js";
export { FlowClient, type FlowClientOptions } from "./flow-client.js";
export { type AuthorizationResult, type AuthorizationStart } from "./flow-outcome.js";
export {
  type AuthorizationFlowsOptions,
  type FlowConvergence,
  type FlowSync,
  type RouteOutcome,
} from "./flows-options.js";
export { pruneFlows } from "./prune-flows.js";
export {
  type AuthorizationSession,
  type FlowSessions,
  type KnownSession,
  type NextAction,
  type SessionRequest,
  type SessionStatus,
} from "./session.js";
