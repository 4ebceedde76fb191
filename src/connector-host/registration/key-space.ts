import { RemoteConnectorError } from "../../errors.js";
import { refuseOption } from "../../options.js";
import type { Release } from "../release/index.js";
import { CAPABILITIES, type Capability, DEFAULT_CAPABILITIES } from "./capabilities.js";
import type { Registration } from "./parse-registration.js";
import type { ManagedStdioConnector } from "./stdio-connector.js";

/** What a release may be opened for. Its server is told of no client capability, and so can ask nothing of agents. */
export type ReleaseCapability = Exclude<Capability, "elicitation" | "sampling" | "roots">;

/** All that can be connected. `place` says to people where each is defined: a file, a line of the configuration. */
export interface KeySpaceSources {
  readonly releases?:
    | Iterable<{
        readonly place: string;
        readonly release: Pick<Release, "connectorId">;
        /** `["tools"]` when left out. */
        readonly capabilities?: readonly ReleaseCapability[] | undefined;
      }>
    | undefined;
  readonly stdio?:
    | Iterable<{ readonly place: string; readonly connector: Pick<ManagedStdioConnector, "key" | "capabilities"> }>
    | undefined;
  readonly registrations?:
    | Iterable<{ readonly place: string; readonly registration: Pick<Registration, "slug" | "capabilities"> }>
    | undefined;
}

/** One of all connectors. */
export interface KeyedConnector {
  readonly key: string;
  readonly kind: "release" | "stdio" | "registration";
  readonly place: string;
  /** What it may be used for, in the order of `CAPABILITIES`. */
  readonly capabilities: readonly Capability[];
}

/**
 * Joins everything that can be connected into one key space. The result is ordered by key, in code units.
 *
 * Throws `duplicate_connector` for a key that two of them have, whatever their kinds, and `invalid_options` for a capability that
 * a release can't have.
 */
export function joinKeySpace(sources: KeySpaceSources): ReadonlyMap<string, KeyedConnector> {
  const { releases = [], stdio = [], registrations = [] } = sources;
  const all: KeyedConnector[] = [];
  for (const { place, release, capabilities = DEFAULT_CAPABILITIES } of releases) {
    all.push({ key: release.connectorId, kind: "release", place, capabilities: ofRelease(capabilities) });
  }
  for (const { place, connector } of stdio) {
    all.push({ key: connector.key, kind: "stdio", place, capabilities: connector.capabilities });
  }
  for (const { place, registration } of registrations) {
    const { slug: key, capabilities } = registration;
    all.push({ key, kind: "registration", place, capabilities });
  }
  // Stable: of two with one key, the one that was named first stays first.
  all.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  for (const [index, second] of all.entries()) {
    const first = all[index - 1];
    if (first?.key === second.key) throw duplicate(second.key, [first.place, second.place]);
  }
  return new Map(all.map((connector) => [connector.key, connector]));
}

function ofRelease(wanted: readonly Capability[]): readonly Capability[] {
  for (const capability of wanted) {
    if (!FOR_RELEASES.includes(capability)) refuseOption("capabilities", `of a release can't be ${capability}`);
  }
  if (wanted.length === 0) refuseOption("capabilities", "must not be empty");
  return CAPABILITIES.filter((capability) => wanted.includes(capability));
}

const FOR_RELEASES: readonly Capability[] = ["tools", "resources", "prompts"] satisfies ReleaseCapability[];

function duplicate(
  connectorKey: string,
  places: readonly [string, string],
): RemoteConnectorError<"duplicate_connector"> {
  return new RemoteConnectorError("duplicate_connector", {
    message: `Two connectors have the key ${connectorKey}: ${places[0]} and ${places[1]}.`,
    details: { connectorKey, places },
  });
}
