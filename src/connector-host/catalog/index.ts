export {
  type CatalogEntry,
  type DeviceEntry,
  deviceEntry,
  findRelease,
  type InstalledRelease,
  installedRelease,
  isActive,
  isWanted,
  newestRelease,
  type ReleaseEntry,
  type ScopeKind,
  scopeKindOf,
} from "./catalog-entry.js";
export { ConnectorCatalog } from "./connector-catalog.js";
export { type DeclaredConnectors, declareConnectors, releaseEntry } from "./declare-connectors.js";
export { type KeptConnectors, readKept, writeRelease, writeSwitch } from "./kept-connectors.js";
export { type KeptRules, readRules, ruledSubject, writeRules } from "./kept-rules.js";
export { openCatalog } from "./open-catalog.js";
