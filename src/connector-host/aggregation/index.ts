export { AggregatedDirectory } from "./aggregated-directory.js";
export { type MissingConnector } from "./ports.js";
