import semver from "semver";
import { RemoteConnectorError } from "../../errors.js";
import type { Release } from "./parse-release.js";

/**
 * Throws `invalid_release` with the member `minimumHostVersion` when the release needs a newer host than `hostVersion`.
 * Both are compared by SemVer 2.0.0, section 11: a pre-release comes before its version, build data does not count.
 * A `hostVersion` that is no semantic version satisfies nothing.
 */
export function assertHostVersion(release: Release, hostVersion: string): void {
  const { minimumHostVersion } = release;
  if (semver.valid(hostVersion) !== null && semver.gte(hostVersion, minimumHostVersion)) return;
  const reason = `needs a host of at least ${minimumHostVersion}, this one is ${hostVersion}`;
  throw new RemoteConnectorError("invalid_release", {
    message: `The release ${reason}.`,
    details: { member: "minimumHostVersion", reason },
  });
}
