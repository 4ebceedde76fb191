import { isAbsolute } from "node:path";
import { refuseOption } from "../../options.js";
import { isJsonObject } from "../../protocol/index.js";
import { readSkills } from "./read-skills.js";
import { skillRefusals } from "./skill-refusals.js";
import type { SkillRoot } from "./skill-root.js";

/**
 * Where the skills of connectors are: absolute paths by connector key, or a function that says where they are of a connector with that
 * digest, its release's or its settings'. `undefined`: it has none.
 */
export type SkillFolders = Readonly<Record<string, string>> | FindSkills;

type FindSkills = (connectorKey: string, digest: string) => string | undefined;

/** Reads a connector's skills; `undefined` when it has no folder. Rejects as `readSkills` does. */
export type SkillSource = (connectorKey: string, digest: string, signal: AbortSignal) => Promise<SkillRoot | undefined>;

/** `undefined` when no connector has skills. Throws `invalid_options`. */
export function resolveSkillSource(folders: SkillFolders | undefined): SkillSource | undefined {
  if (folders === undefined) return undefined;
  const find = typeof folders === "function" ? folders : finderIn(folders);
  return async (connectorKey, digest, signal) => {
    const root = findRoot(find, connectorKey, digest);
    return root === undefined ? undefined : readSkills({ connectorKey, root, signal });
  };
}

function findRoot(find: FindSkills, connectorKey: string, digest: string): string | undefined {
  try {
    return find(connectorKey, digest);
  } catch (error) {
    throw skillRefusals(connectorKey)("", "could not be found", error);
  }
}

function finderIn(folders: Readonly<Record<string, string>>): FindSkills {
  if (!isJsonObject(folders)) refuseOption("skills", "must be paths by connector key, or a function");
  for (const [key, path] of Object.entries(folders)) {
    if (typeof path !== "string" || !isAbsolute(path)) refuseOption("skills", `must have an absolute path for ${key}`);
  }
  const kept = new Map(Object.entries(folders));
  return (key) => kept.get(key);
}
