export { createRelayServer, type RelayServer } from "./relay-server.js";
export { type GrantedLease, type LeasedConnector, type LeaseRequest } from "./lease-terms.js";
export { type RelayLogins, relayLogins } from "./relay-logins.js";
export { type RelayedRequest, type RelayListenOptions, type RelayServerOptions } from "./relay-server-options.js";
