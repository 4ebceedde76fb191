export type { CallLease, CallLeaseRequest, CallLeases } from "./call-leases.js";
export { DirectFactory, takesQuickSignals } from "./direct-factory.js";
export { type AccountLogins, type DirectClientOptions, type DirectFactoryOptions } from "./direct-factory-options.js";
export { type RemoteMcpClient, type RemoteMcpClientFactory, type RemoteMcpClientRequest } from "./remote-mcp-client.js";
