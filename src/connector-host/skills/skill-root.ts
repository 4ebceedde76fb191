/** What is said of a skill. Nothing of it permits anything. */
export interface Skill {
  /** Lower-case letters, digits and single hyphens, at most 64 characters; only one skill of a connector has it. */
  readonly name: string;
  /** On one line, at most 200 characters: what the skill calls itself, else its first heading, else its name. */
  readonly title: string;
  /** On one line, at most 1,024 characters: what it does, and when it is of use. */
  readonly description: string;
  /** Of its `SKILL.md`, below the root, with `/` between the names. */
  readonly path: string;
}

/** The skills of a connector, as its folder held them when the connector was activated. */
export interface SkillRoot {
  readonly connectorKey: string;
  /** The folder, an absolute path. */
  readonly root: string;
  /** By name. */
  readonly skills: readonly Skill[];
}
