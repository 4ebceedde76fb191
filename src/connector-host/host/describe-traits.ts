import type { ConnectorTraits } from "../aggregation/index.js";
import { type CatalogEntry, type DeviceEntry, isWanted } from "../catalog/index.js";

/**
 * How a connector's lists are made and its calls are prepared: those of releases live, with the contract as the host's option says;
 * those of the device from their last full list. Pure.
 */
export function describeTraits(entry: CatalogEntry, contracts: ConnectorTraits["contracts"]): ConnectorTraits {
  const { capabilities } = entry;
  if (entry.kind === "release") return { capabilities, listing: "live", contracts };
  const { digest: settingsDigest } = entry.connector;
  return {
    capabilities,
    listing: "catalog",
    contracts: "last_list",
    origin: originOf(entry),
    isActive: isWanted(entry),
    settingsDigest,
  };
}

/** A program has its own pipe, which nobody shares. */
function originOf({ connector, key }: DeviceEntry): string {
  return connector.kind === "stdio" ? `stdio:${key}` : new URL(connector.registration.settings.endpoint).origin;
}
