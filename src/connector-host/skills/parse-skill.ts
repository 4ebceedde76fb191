import { plainText } from "../../protocol/index.js";
import type { FrontMatter } from "./front-matter/index.js";
import type { RefuseSkills } from "./skill-refusals.js";
import type { Skill } from "./skill-root.js";

const MAX_FRONT_MATTER = 8_192;
const MAX_NAME = 64;
const MAX_TITLE = 200;
const MAX_DESCRIPTION = 1_024;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** How a skill's text is read. */
export interface SkillParsing {
  readonly parse: (text: string) => FrontMatter;
  readonly refuse: RefuseSkills;
}

/**
 * What a `SKILL.md` says of itself: UTF-8, front matter between lines of `---` at its very beginning, and Markdown below. Throws
 * `invalid_skills`. Pure. Source: Agent Skills, Specification, SKILL.md format.
 */
export function parseSkill(path: string, bytes: Uint8Array, { parse, refuse }: SkillParsing): Skill {
  const { front, body } = splitSkill(path, textOf(path, bytes, refuse), refuse);
  const parsed = parse(front);
  if (parsed.kind === "refused") throw refuse(path, `has front matter that ${parsed.reason}`);
  const { texts } = parsed;
  const name = texts.get("name") ?? "";
  if (name.length > MAX_NAME || !NAME.test(name)) {
    throw refuse(path, "has no name of lower-case letters, digits and single hyphens");
  }
  const textIn = (member: string, maxLength: number): string => {
    const text = (texts.get(member) ?? "").trim();
    if (text.length <= maxLength) return plainText(text, maxLength).trim();
    throw refuse(path, `has a ${member} of more than ${String(maxLength)} characters`);
  };
  const description = textIn("description", MAX_DESCRIPTION);
  if (description === "") throw refuse(path, "has no description");
  const title = textIn("title", MAX_TITLE) || headingOf(body) || name;
  return { name, title, description, path };
}

function textOf(path: string, bytes: Uint8Array, refuse: RefuseSkills): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw refuse(path, "is no UTF-8", error);
  }
}

interface SkillParts {
  readonly front: string;
  readonly body: string;
}

function splitSkill(path: string, text: string, refuse: RefuseSkills): SkillParts {
  const opening = /^---[ \t]*\r?\n/.exec(text);
  if (opening === null) throw refuse(path, "has no front matter");
  const rest = text.slice(opening[0].length);
  const closing = /^---[ \t]*\r?$/m.exec(rest);
  if (closing === null || closing.index > MAX_FRONT_MATTER) {
    throw refuse(path, `has front matter without an end in its first ${String(MAX_FRONT_MATTER)} characters`);
  }
  return { front: rest.slice(0, closing.index), body: rest.slice(closing.index + closing[0].length) };
}

/** A heading that the body begins with. */
function headingOf(body: string): string {
  const heading = /^\s*# +([^\n]{1,400})/.exec(body.slice(0, MAX_FRONT_MATTER))?.[1] ?? "";
  return plainText(heading, MAX_TITLE).trim();
}
