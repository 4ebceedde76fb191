export type { Skill, SkillRoot } from "./skill-root.js";
export { resolveSkillSource, type SkillFolders, type SkillSource } from "./skill-source.js";
