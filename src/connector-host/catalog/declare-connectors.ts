import { createHash } from "node:crypto";
import { programConnector, registeredConnector } from "../device/index.js";
import {
  declareRegistration,
  declareStdioConnector,
  joinKeySpace,
  type RegistrationPolicy,
  type ReleaseCapability,
} from "../registration/index.js";
import {
  deviceEntry,
  type DeviceEntry,
  type InstalledRelease,
  installedRelease,
  type ReleaseEntry,
} from "./catalog-entry.js";

/** What a host's own configuration says of connectors, untrusted. */
export interface ConnectorDeclarations {
  readonly releases: readonly unknown[];
  readonly registrations: readonly unknown[];
  readonly stdio: readonly unknown[];
  /** What connectors of releases are opened for, by key. */
  readonly capabilities: Readonly<Record<string, readonly ReleaseCapability[]>>;
  readonly policy: RegistrationPolicy;
}

/** The same, read. */
export interface DeclaredConnectors {
  readonly releases: readonly ReleaseEntry[];
  readonly device: readonly DeviceEntry[];
}

const PLACE = "the configuration";

/**
 * Reads what a configuration declares.
 *
 * Throws `invalid_release`, `invalid_registration`, `invalid_options`, and `duplicate_connector` for a key that two have.
 */
export function declareConnectors(declarations: ConnectorDeclarations): DeclaredConnectors {
  const { capabilities, policy } = declarations;
  const releases = declarations.releases.map((value) => {
    const installed = installedRelease(value);
    const entry = releaseEntry(installed, PLACE, capabilities[installed.release.connectorId]);
    return { ...entry, declaredDigest: installed.digest };
  });
  const device = [
    ...declarations.registrations.map((value) =>
      registeredConnector(declareRegistration(value, declaredId(slugOf(value)), policy)),
    ),
    ...declarations.stdio.map((value) => programConnector(declareStdioConnector(value, policy))),
  ].map((connector) => deviceEntry(connector, PLACE));
  return { releases, device };
}

/** The entry of a release, switched on. Throws `invalid_options` for capabilities that it can't have. */
export function releaseEntry(
  current: InstalledRelease,
  place: string,
  capabilities: readonly ReleaseCapability[] | undefined,
): ReleaseEntry {
  const key = current.release.connectorId;
  const [opened] = joinKeySpace({ releases: [{ place, release: current.release, capabilities }] }).values();
  return {
    kind: "release",
    key,
    place,
    capabilities: opened?.capabilities ?? [],
    isOn: true,
    current,
    candidate: undefined,
    declaredDigest: undefined,
    isLeaving: false,
  };
}

/** The id of a server that a configuration declares: a UUID of version 8, always the same one for its slug. */
function declaredId(slug: string): string {
  const digits = createHash("sha256").update(`declared\0${slug}`, "utf8").digest("hex");
  const [first, second, third, fourth] = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(13, 16),
    digits.slice(17, 20),
  ];
  return `${first}-${second}-8${third}-a${fourth}-${digits.slice(20, 32)}`;
}

/** Of what is not read yet. One without a slug is refused when it is. */
function slugOf(declaration: unknown): string {
  const has = typeof declaration === "object" && declaration !== null && "slug" in declaration;
  return has && typeof declaration.slug === "string" ? declaration.slug : "";
}
