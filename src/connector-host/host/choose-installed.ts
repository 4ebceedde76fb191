import { chooseRelease, type ProjectionRow } from "../../auth-projection/index.js";
import type { InstalledRelease, ReleaseEntry } from "../catalog/index.js";

/**
 * Which of a connector's releases runs: the one that the account's snapshot names; where it names none, one that needs no
 * authorization, the candidate first. `undefined`: neither. Pure.
 */
export function chooseInstalled(
  entry: ReleaseEntry,
  projection: Pick<ProjectionRow, "connectorVersion"> | undefined,
): InstalledRelease | undefined {
  const { candidate, current = candidate } = entry;
  if (current === undefined) return undefined;
  const choice = chooseRelease(projection?.connectorVersion, {
    current: current.release.version,
    candidate: candidate?.release.version,
  });
  if (choice === "current") return current;
  if (choice === "candidate") return candidate;
  return [candidate, current].find((each) => each?.release.authorization.kind === "none");
}
