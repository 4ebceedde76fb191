export { AggregatedDirectory, type MissingConnector } from "./aggregated-directory.js";
