export { type AuthorizeConnectorOptions } from "./account-authorizations.js";
export { type AgentSession, ConnectorHost } from "./connector-host.js";
export { type ConnectorState, type ConnectorStatus } from "./connector-status.js";
export { type HostLogger, type LogFields } from "./host-logger.js";
export { type ConnectorHostOptions } from "./host-options.js";
export { type HostStore, type HostTx } from "./host-store.js";
export { type Obstacle } from "./plan-connector.js";
export { type PublicationEvent, type PublicationListener } from "./publication-feed.js";
