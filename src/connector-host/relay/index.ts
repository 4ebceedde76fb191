export {
  createRelayServer,
  type GrantedLease,
  type LeasedConnector,
  type LeaseRequest,
  type RelayedRequest,
  type RelayListenOptions,
  type RelayLogins,
  relayLogins,
  type RelayServer,
  type RelayServerOptions,
} from "./desktop/index.js";
export { type RelayAddress, RelayFactory, type RelayFactoryOptions } from "./guest/index.js";
