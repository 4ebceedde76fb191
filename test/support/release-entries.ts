import { installedRelease, releaseEntry, type ReleaseEntry } from "../../src/connector-host/catalog/index.js";
import { releaseOf } from "./releases.js";

/** The connector of a release, as a catalog has it. */
export function releaseEntryOf(connectorId: string, changes: object = {}): ReleaseEntry {
  return releaseEntry(installedRelease(releaseOf(connectorId, changes)), "a test", undefined);
}
