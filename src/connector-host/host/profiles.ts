import { RemoteConnectorError } from "../../errors.js";
import { refuseOption } from "../../options.js";
import {
  type AgentProfileTables,
  classifyProfiles,
  type DescriptionOverride,
  type Table,
} from "../registration/index.js";

/** What agents of one kind are shown otherwise. */
export interface AgentProfile {
  /** Descriptions of tools, by connector key and by the name that its server has for the tool. They are put over those of registrations. */
  readonly descriptions: Readonly<Record<string, Readonly<Record<string, DescriptionOverride>>>>;
}

/** Profiles, read, by name. */
export type Profiles = Table<AgentProfileTables>;

/** Reads the option `profiles`. Throws `invalid_options`. */
export function resolveProfiles(value: Readonly<Record<string, AgentProfile>> = {}): Profiles {
  const read = classifyProfiles(value);
  if (read.kind === "profiles") return read.profiles;
  return refuseOption("profiles", `are at fault at ${read.fault.member}: ${read.fault.reason}`);
}

/** What a profile says of a connector's tools; `undefined` when it says nothing. Pure. */
export function profileDescriptions(
  profiles: Profiles,
  profile: string | undefined,
  connectorKey: string,
): Table<DescriptionOverride> | undefined {
  return profile === undefined ? undefined : profiles[profile]?.descriptions[connectorKey];
}

/** Whether there is a profile of this name. Pure. */
export function hasProfile(profiles: Profiles, profile: string): boolean {
  return profiles[profile] !== undefined;
}

/** Throws `invalid_argument` for a profile that there is not. */
export function assertProfile(profiles: Profiles, profile: string | undefined): void {
  if (profile === undefined || hasProfile(profiles, profile)) return;
  throw new RemoteConnectorError("invalid_argument", {
    message: `No profile is called ${JSON.stringify(profile)}.`,
    details: { argument: "profile", reason: "not one of the option profiles" },
  });
}
