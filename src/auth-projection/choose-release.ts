/** The releases of a connector that a device could run. */
export interface ReleaseVersions {
  readonly current: string;
  /** The one being installed, if any. */
  readonly candidate?: string | undefined;
}

/** Which release a snapshot's `connectorVersion` means. `release_mismatch` is neither: the connector is not enabled. */
export type ReleaseChoice = "current" | "candidate" | "release_mismatch";

/** Finds the release that the snapshot names. `undefined`, from a quarantined entry, matches none. */
export function chooseRelease(connectorVersion: string | undefined, releases: ReleaseVersions): ReleaseChoice {
  if (connectorVersion === releases.current) return "current";
  if (connectorVersion !== undefined && connectorVersion === releases.candidate) return "candidate";
  return "release_mismatch";
}
