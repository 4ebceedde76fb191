import { type CatalogEntry, isActive } from "../catalog/index.js";
import type { Capability } from "../registration/index.js";

/** One connector of all that there are. */
export interface ListedConnector {
  readonly connectorKey: string;
  readonly kind: CatalogEntry["kind"];
  /** For people. */
  readonly displayName: string;
  /** Says to people where it is defined. */
  readonly place: string;
  readonly capabilities: readonly Capability[];
  /** Its switch. */
  readonly enabled: boolean;
  /** Of its release, or of its settings: another one is another identity. `undefined` for a release that can't be read. */
  readonly digest: string | undefined;
  /** Of its release. `undefined` for other kinds. */
  readonly version: string | undefined;
  /** Of the release that it is updated to. */
  readonly candidateVersion: string | undefined;
  /** A definition that is paused does not run, whatever the switch. */
  readonly paused: boolean;
}

/** What people are told of an entry. Pure. */
export function describeEntry(entry: CatalogEntry): ListedConnector {
  const { key: connectorKey, kind, place, capabilities, isOn: enabled } = entry;
  const base = { connectorKey, kind, place, capabilities, enabled };
  if (entry.kind === "release") {
    const { current, candidate } = entry;
    return {
      ...base,
      displayName: current?.release.display.name ?? connectorKey,
      digest: current?.digest,
      version: current?.release.version,
      candidateVersion: candidate?.release.version,
      paused: false,
    };
  }
  const { connector } = entry;
  const { displayName } = connector.kind === "stdio" ? connector.connector : connector.registration;
  const { digest } = connector;
  return { ...base, displayName, digest, version: undefined, candidateVersion: undefined, paused: !isActive(entry) };
}
