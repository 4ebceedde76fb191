export {
  AggregatedDirectory,
  type AggregatedDirectoryOptions,
  type MissingConnector,
  type Reach,
} from "./aggregated-directory.js";
