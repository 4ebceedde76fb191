import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder of skills on the disk. */
export class SkillFolder {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<SkillFolder> {
    return new SkillFolder(await mkdtemp(join(tmpdir(), "skills-")));
  }

  at(path: string): string {
    return join(this.path, path);
  }

  /** Writes a file, and the folders that it lies in. */
  async write(path: string, content: string | Uint8Array = ""): Promise<void> {
    await mkdir(dirname(this.at(path)), { recursive: true });
    await writeFile(this.at(path), content);
  }

  /** Writes a skill of this name into a folder below. */
  skill(folder: string, name: string, more = ""): Promise<void> {
    return this.write(join(folder, "SKILL.md"), skillText(name, more));
  }

  close(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

/** `more`: lines of front matter. */
export function skillText(name: string, more = "", body = "Do it.\n"): string {
  return `---\nname: ${name}\ndescription: What ${name} does.\n${more}---\n${body}`;
}
