import type { CatalogEntry } from "../catalog/index.js";
import type { DescriptionOverride, Table } from "../registration/index.js";
import { profileDescriptions, type Profiles } from "./profiles.js";

type Descriptions = Table<DescriptionOverride>;

/**
 * What is said of a connector's tools in place of what their server says, what counts more last: by its definition, and by a profile.
 * Tables that say nothing are not among them. Pure.
 */
export function shownDescriptions(
  entry: CatalogEntry | undefined,
  profiles: Profiles,
  profile: string | undefined,
): readonly Descriptions[] {
  if (entry === undefined) return NONE;
  const tables = [ownDescriptions(entry), profileDescriptions(profiles, profile, entry.key)];
  return tables.filter(saysSomething);
}

const NONE: readonly Descriptions[] = [];

/** What a connector's definition says of its tools; `undefined` for one of a release. Pure. */
export function ownDescriptions(entry: CatalogEntry | undefined): Descriptions | undefined {
  if (entry === undefined || entry.kind === "release") return undefined;
  const { connector } = entry;
  return connector.kind === "stdio" ? connector.connector.descriptions : connector.registration.descriptions;
}

function saysSomething(table: Descriptions | undefined): table is Descriptions {
  if (table === undefined) return false;
  for (const name in table) if (Object.hasOwn(table, name)) return true;
  return false;
}
