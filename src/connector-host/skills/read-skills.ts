import { isAbsolute } from "node:path";
import { parseSkill } from "./parse-skill.js";
import { machineFiles, type SkillFiles } from "./skill-files.js";
import { skillRefusals } from "./skill-refusals.js";
import type { Skill, SkillRoot } from "./skill-root.js";
import { type SkillEntry, SkillTree } from "./skill-tree.js";

/** What is to be read, and how. */
export interface SkillReading {
  readonly connectorKey: string;
  /** An absolute path. */
  readonly root: string;
  readonly signal: AbortSignal;
  /** The machine's own when left out. */
  readonly files?: SkillFiles | undefined;
}

/**
 * Reads what the skills in a folder say of themselves: each folder with a `SKILL.md` is one. At most 8 folders deep, 128 files and
 * folders, and 512 KiB each; no links; no name twice. All or nothing: one fault, and the folder is refused.
 *
 * Rejects with `invalid_skills` (`not_sent`), which names the place, and with the signal's reason.
 */
export async function readSkills(reading: SkillReading): Promise<SkillRoot> {
  const { connectorKey, root, signal, files = machineFiles } = reading;
  const refuse = skillRefusals(connectorKey);
  // A host can give anything.
  if (typeof root !== "string" || !isAbsolute(root)) throw refuse("", "has no absolute path");
  const tree = new SkillTree({ root, files, signal, refuse });
  const entries = await tree.walk();
  const skills = new Map<string, Skill>();
  const { parseFrontMatter: parse } = await import("./front-matter/index.js");
  for (const entry of entries) {
    if (!isSkill(entry)) continue;
    const skill = parseSkill(entry.path, await tree.read(entry), { parse, refuse });
    const other = skills.get(skill.name);
    if (other !== undefined) throw refuse(entry.path, `has the name ${skill.name}, which ${other.path} has`);
    skills.set(skill.name, skill);
  }
  await tree.assertUnchanged();
  return { connectorKey, root, skills: [...skills.values()].toSorted(byName) };
}

function isSkill({ path, stats }: SkillEntry): boolean {
  return stats.isFile() && /(?:^|\/)SKILL\.md$/.test(path);
}

function byName(one: Skill, other: Skill): number {
  return one.name < other.name ? -1 : 1;
}
