export { type AdmissionPins, createAdmitter } from "./admitter.js";
export { type PublicationChange } from "./published-routes.js";
export { Route, type RouteClient, type RouteTool } from "./route.js";
export { type RouteDiagnostic, type RouteTableOptions } from "./route-table-options.js";
export { type FenceKind, RouteTable } from "./route-table.js";
