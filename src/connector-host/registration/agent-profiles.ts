import { z } from "zod";
import { type Fault, findFault } from "../release/index.js";
import { type Table, tableOf } from "./table-schema.js";
import { type DescriptionOverride, descriptionTables } from "./tool-rules.js";

/** What agents of one kind are shown otherwise, by connector key and by the name that its server has for a tool. */
export interface AgentProfileTables {
  readonly descriptions: Table<Table<DescriptionOverride>>;
}

const PROFILES = 256;

const schema = tableOf(z.strictObject({ descriptions: descriptionTables }).readonly(), {
  maxEntries: PROFILES,
  refuseName: (name) => (name === "" || name.length > 128 ? "must be a name of 1 to 128 characters" : undefined),
});

/** Profiles by name, or what is wrong with them. */
export type ProfilesVerdict =
  | { readonly kind: "profiles"; readonly profiles: Table<AgentProfileTables> }
  | { readonly kind: "refused"; readonly fault: Fault };

/** Reads profiles from untrusted data. Pure. */
export function classifyProfiles(value: unknown): ProfilesVerdict {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { kind: "profiles", profiles: parsed.data };
  return { kind: "refused", fault: findFault(parsed.error.issues, () => "not a member of a profile") };
}
