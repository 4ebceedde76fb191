import type { DeviceConnector } from "../device/index.js";
import type { Capability } from "../registration/index.js";
import { parseRelease, type Release, releaseDigest } from "../release/index.js";

/** A release that this device has, and its identity. */
export interface InstalledRelease {
  readonly release: Release;
  readonly digest: string;
}

/** What every connector has, whatever its kind. */
interface EntryBase {
  readonly key: string;
  /** Says to people where it is defined. */
  readonly place: string;
  /** What it may be used for, in the order of `CAPABILITIES`. */
  readonly capabilities: readonly Capability[];
  /** Its switch, which a person has. */
  readonly isOn: boolean;
}

/** A connector of a release, reached in the name of an account. */
export interface ReleaseEntry extends EntryBase {
  readonly kind: "release";
  /** `undefined`: what is kept of it is no release that this version can read. */
  readonly current: InstalledRelease | undefined;
  /** The release that is to take its place, once a route of it was published. */
  readonly candidate: InstalledRelease | undefined;
  /** Of the release that the configuration has, or had when it was last looked at. */
  readonly declaredDigest: string | undefined;
  /** It is being uninstalled: nothing of it runs any more. */
  readonly isLeaving: boolean;
}

/** A connector of this device: it needs no account. */
export interface DeviceEntry extends EntryBase {
  readonly kind: DeviceConnector["kind"];
  readonly connector: DeviceConnector;
}

/** One of all connectors. Immutable: a change is another entry. */
export type CatalogEntry = ReleaseEntry | DeviceEntry;

/** Where a connector runs: in the name of the account that is signed in, or of the device. */
export type ScopeKind = "account" | "device";

export function scopeKindOf({ kind }: Pick<CatalogEntry, "kind">): ScopeKind {
  return kind === "release" ? "account" : "device";
}

/** The entry of a connector of the device, switched on. */
export function deviceEntry(connector: DeviceConnector, place: string): DeviceEntry {
  const { kind, key } = connector;
  const { capabilities } = connector.kind === "stdio" ? connector.connector : connector.registration;
  return { kind, key, place, capabilities, isOn: true, connector };
}

/** Whether its definition lets it run: a registered server can be paused, and so can a program. */
export function isActive({ connector }: DeviceEntry): boolean {
  const { state } = connector.kind === "stdio" ? connector.connector : connector.registration;
  return state === "active";
}

/** Whether people want anything of it to run: its switch is on, its definition is active, and it is not being uninstalled. */
export function isWanted(entry: CatalogEntry): boolean {
  return entry.isOn && (entry.kind === "release" ? !entry.isLeaving : isActive(entry));
}

/** Reads a release from untrusted data. Throws `invalid_release`. */
export function installedRelease(value: unknown): InstalledRelease {
  const release = parseRelease(value);
  return { release, digest: releaseDigest(release) };
}

/** The release of this identity, if the connector has it. */
export function findRelease({ current, candidate }: ReleaseEntry, digest: string): InstalledRelease | undefined {
  return current?.digest === digest ? current : candidate?.digest === digest ? candidate : undefined;
}

/** The release that the connector is, or is about to be. */
export function newestRelease({ current, candidate }: ReleaseEntry): InstalledRelease | undefined {
  return candidate ?? current;
}
