export { CallAsks } from "./call-asks.js";
export { ConnectionLeases } from "./connection-leases.js";
export type { DeviceLeases, LeasedServer } from "./device-leases.js";
export { offeredCapabilities } from "./lease-capabilities.js";
export { LeasingClient } from "./leasing-client.js";
export { SingleLease } from "./single-lease.js";
