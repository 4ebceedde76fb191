export { AggregatedDirectory } from "./aggregated-directory.js";
export { type ConnectorTraits, type MissingConnector, type Reach } from "./ports.js";
