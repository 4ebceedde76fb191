import { RemoteConnectorError } from "../../errors.js";
import { parseRelease, type Release, releaseDigest } from "../release/index.js";

/** A release that this device has, and its identity. */
export interface InstalledConnector {
  readonly key: string;
  readonly release: Release;
  readonly digest: string;
}

/** What this device has, by key in code units. That a connector is installed says nothing of any account. */
export class InstalledConnectors {
  readonly #byKey: ReadonlyMap<string, InstalledConnector>;

  /**
   * Reads releases from untrusted data. Throws `invalid_release` for one that is refused, and for a key that two of them
   * have.
   */
  constructor(releases: readonly unknown[]) {
    const connectors = releases.map((value) => {
      const release = parseRelease(value);
      return { key: release.connectorId, release, digest: releaseDigest(release) };
    });
    connectors.sort((a, b) => (a.key < b.key ? -1 : 1));
    for (const [index, { key }] of connectors.entries()) if (key === connectors[index - 1]?.key) throw twice(key);
    this.#byKey = new Map(connectors.map((connector) => [connector.key, connector]));
  }

  get keys(): readonly string[] {
    return [...this.#byKey.keys()];
  }

  get(key: string): InstalledConnector | undefined {
    return this.#byKey.get(key);
  }
}

function twice(key: string): RemoteConnectorError<"invalid_release"> {
  return new RemoteConnectorError("invalid_release", {
    message: `Two releases have the connector id ${key}.`,
    details: { member: "connectorId", reason: "used by two releases" },
  });
}
