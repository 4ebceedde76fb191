import { execFile } from "node:child_process";
import { appendFile, link, mkdir, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readSkills } from "../../../../src/connector-host/skills/read-skills.js";
import { machineFiles, type SkillFiles } from "../../../../src/connector-host/skills/skill-files.js";
import type { SkillRoot } from "../../../../src/connector-host/skills/skill-root.js";
import { isRemoteConnectorError } from "../../../../src/errors.js";
import { SkillFolder, skillText } from "./skill-folder.js";

const MAX_BYTES = 512 * 1024;

let folder: SkillFolder;
beforeEach(async () => (folder = await SkillFolder.make()));
afterEach(() => folder.close());

function read(files?: SkillFiles, root = folder.path): Promise<SkillRoot> {
  return readSkills({ connectorKey: "mail", root, signal: new AbortController().signal, files });
}

/** What is refused, as `place: reason`; `undefined` when it is not. */
async function refusal(files?: SkillFiles, root?: string): Promise<string | undefined> {
  try {
    await read(files, root);
    return undefined;
  } catch (error) {
    if (!isRemoteConnectorError(error, "invalid_skills")) throw error;
    expect(error.delivery).toBe("not_sent");
    expect(error.message).not.toContain(folder.path);
    const { connectorKey, path, reason } = error.details;
    expect(connectorKey).toBe("mail");
    return `${path}: ${reason}`;
  }
}

async function namesOf(): Promise<readonly string[]> {
  const { skills } = await read();
  return skills.map(({ name }) => name);
}

describe("H-29: a folder of skills", () => {
  it("gives name, title, description and place of each skill, by name", async () => {
    await folder.write("pdf/SKILL.md", skillText("pdf", "title: PDF files\n"));
    await folder.write("pdf/references/forms.md", "# Forms");
    await folder.write("office/sheets/SKILL.md", skillText("office-sheets", "", "\n# All about sheets\n\nText."));
    await folder.write(
      "a/SKILL.md",
      skillText("a", "allowed-tools: Bash(*)\nmetadata:\n  x: y\n", "No heading.\n# Late"),
    );
    await folder.write("README.md", "no skill");
    expect(await read()).toEqual({
      connectorKey: "mail",
      root: folder.path,
      skills: [
        { name: "a", title: "a", description: "What a does.", path: "a/SKILL.md" },
        {
          name: "office-sheets",
          title: "All about sheets",
          description: "What office-sheets does.",
          path: "office/sheets/SKILL.md",
        },
        { name: "pdf", title: "PDF files", description: "What pdf does.", path: "pdf/SKILL.md" },
      ],
    });
  });

  it("may be empty, and may be one skill itself", async () => {
    expect(await namesOf()).toEqual([]);
    await folder.skill(".", "whole");
    expect(await namesOf()).toEqual(["whole"]);
  });

  it("knows a skill by a file called exactly so", async () => {
    for (const name of ["a/skill.md", "b/SKILL.MD", "c/MYSKILL.md", "d/SKILL.md.bak"]) await folder.write(name, "x");
    expect(await namesOf()).toEqual([]);
    await mkdir(folder.at("e/SKILL.md"), { recursive: true });
    expect(await namesOf()).toEqual([]);
  });

  it("takes a byte order mark, carriage returns, and front matter at the very end of a file", async () => {
    await folder.write("a/SKILL.md", `\ufeff${skillText("a").replaceAll("\n", "\r\n")}`);
    await folder.write("b/SKILL.md", "---\nname: b\ndescription: B.\n---");
    expect(await namesOf()).toEqual(["a", "b"]);
  });

  it("shows text on one line, without control characters and marks of direction", async () => {
    const description = String.raw`description: "one\ntwo\u001b[31m\u202e three"`;
    await folder.write("a/SKILL.md", `---\nname: a\ntitle: "\\e]0;x\\a"\n${description}\n---\n`);
    expect((await read()).skills).toEqual([
      { name: "a", title: "]0;x", description: "one two [31m  three", path: "a/SKILL.md" },
    ]);
  });
});

describe("H-29: the limits of a folder of skills", () => {
  it("is 8 folders deep, and no deeper", async () => {
    await folder.skill("1/2/3/4/5/6/7", "deep");
    expect(await namesOf()).toEqual(["deep"]);
    await folder.write("1/2/3/4/5/6/7/8/x");
    expect(await refusal()).toBe("1/2/3/4/5/6/7/8/x: lies more than 8 folders deep");
  });

  it("holds 128 files and folders, and no more", async () => {
    await folder.skill("a", "a");
    for (let i = 0; i < 126; i += 1) await folder.write(`a/${String(i)}`);
    expect(await namesOf()).toEqual(["a"]);
    await folder.write("b");
    expect(await refusal()).toBe(": holds more than 128 files and folders");
  });

  it("asks for no more names of a folder than it takes", async () => {
    let given = 0;
    const files: SkillFiles = {
      ...machineFiles,
      async *names() {
        for (;;) yield String((given += 1));
      },
    };
    expect(await refusal(files)).toBe(": holds more than 128 files and folders");
    expect(given).toBe(129);
  });

  it("holds files of 512 KiB, and no larger, skills and others", async () => {
    const text = skillText("a");
    await folder.write("a/SKILL.md", text + "x".repeat(MAX_BYTES - text.length));
    await folder.write("a/data", new Uint8Array(MAX_BYTES));
    expect(await namesOf()).toEqual(["a"]);
    await appendFile(folder.at("a/data"), "x");
    expect(await refusal()).toBe("a/data: is larger than 512 KiB");
  });

  it("has each name once", async () => {
    await folder.skill("a", "same");
    await folder.skill("b/c", "same");
    expect(await refusal()).toBe("b/c/SKILL.md: has the name same, which a/SKILL.md has");
  });

  it("has front matter of 8,192 characters, and no more", async () => {
    const front = "name: a\ndescription: b\nx: ";
    const fill = "x".repeat(8_192 - front.length - 1);
    await folder.write("a/SKILL.md", `---\n${front}${fill}\n---\n`);
    expect(await namesOf()).toEqual(["a"]);
    await folder.write("a/SKILL.md", `---\n${front}${fill}y\n---\n`);
    expect(await refusal()).toBe("a/SKILL.md: has front matter without an end in its first 8192 characters");
  });

  it("has texts of a bounded length", async () => {
    const of = (title: number, description: number): string =>
      `---\nname: a\ntitle: ${"t".repeat(title)}\ndescription: ${"d".repeat(description)}\n---\n`;
    await folder.write("a/SKILL.md", of(200, 1_024));
    expect(await namesOf()).toEqual(["a"]);
    await folder.write("a/SKILL.md", of(201, 1));
    expect(await refusal()).toBe("a/SKILL.md: has a title of more than 200 characters");
    await folder.write("a/SKILL.md", of(1, 1_025));
    expect(await refusal()).toBe("a/SKILL.md: has a description of more than 1024 characters");
  });
});

describe("H-29: a skill", () => {
  it.each([
    "",
    "A",
    "a_b",
    "-a",
    "a-",
    "a--b",
    "a b",
    "ä",
    "../a",
    "a/b",
    "a\\b",
    `"a\\nb"`,
    "a".repeat(65),
    "[a]",
    "{a: b}",
  ])("is refused with the name %j", async (name) => {
    await folder.write("a/SKILL.md", `---\nname: ${name}\ndescription: x\n---\n`);
    expect(await refusal()).toMatch(/^a\/SKILL\.md: has no name of lower-case letters/);
  });

  it.each(["a", "0", "a-b-c", "1-2", "a".repeat(64)])("is taken with the name %j", async (name) => {
    await folder.write("a/SKILL.md", skillText(name));
    expect(await namesOf()).toEqual([name]);
  });

  it.each([
    ["nothing", "", "has no front matter"],
    ["text alone", "# A skill\n", "has no front matter"],
    ["a line above", "\n---\nname: a\n---\n", "has no front matter"],
    ["no end", "---\nname: a\ndescription: b\n", "has front matter without an end in its first 8192 characters"],
    ["nothing in it", "---\n---\n", "has front matter that is no mapping"],
    ["no description", "---\nname: a\n---\n", "has no description"],
    ["a description of spaces", '---\nname: a\ndescription: " \\t "\n---\n', "has no description"],
    ["a list as description", "---\nname: a\ndescription: [b]\n---\n", "has no description"],
    ["a name twice", "---\nname: a\nname: b\n---\n", "has front matter that is no YAML (DUPLICATE_KEY)"],
    ["aliases", "---\nname: &a a\ndescription: *a\n---\n", "has front matter that has an anchor, an alias or a tag"],
    ["a tag", "---\nname: !!str a\ndescription: b\n---\n", "has front matter that has an anchor, an alias or a tag"],
  ])("is refused with %s", async (_, text, reason) => {
    await folder.write("a/SKILL.md", text);
    expect(await refusal()).toBe(`a/SKILL.md: ${reason}`);
  });

  it("is refused with aliases that would make a billion of a few, and with nesting that would end the process", async () => {
    const levels = Array.from(
      { length: 9 },
      (_, i) => `l${String(i + 1)}: &l${String(i + 1)} [${`*l${String(i)},`.repeat(9)}]`,
    );
    await folder.write("a/SKILL.md", `---\nname: a\ndescription: b\nl0: &l0 x\n${levels.join("\n")}\n---\n`);
    expect(await refusal()).toBe("a/SKILL.md: has front matter that has an anchor, an alias or a tag");
    await folder.write("a/SKILL.md", `---\nname: ${"[".repeat(8_000)}\n---\n`);
    expect(await refusal()).toBe("a/SKILL.md: has front matter that is nested more than 16 deep");
  });

  it("is refused when it is no UTF-8", async () => {
    await folder.write("a/SKILL.md", Buffer.concat([Buffer.from(skillText("a")), Buffer.from([0xff])]));
    expect(await refusal()).toBe("a/SKILL.md: is no UTF-8");
  });
});

describe("H-29: nothing of a folder of skills is anywhere else", () => {
  it.each(["file", "folder", "nothing"])("so that a link to a %s is refused", async (target) => {
    const other = await SkillFolder.make();
    try {
      await other.skill("a", "a");
      const at = { file: other.at("a/SKILL.md"), folder: other.at("a"), nothing: other.at("x") }[target] ?? "";
      await folder.skill("b", "b");
      await symlink(at, folder.at(target === "file" ? "b/other.md" : "link"));
      expect(await refusal()).toMatch(/: is a link$/);
    } finally {
      await other.close();
    }
  });

  it("so that a link within it is refused, and one that is the folder itself", async () => {
    await folder.skill("a/b", "b");
    await symlink("b", folder.at("a/c"));
    expect(await refusal()).toBe("a/c: is a link");
    await rm(folder.at("a/c"));
    await symlink(folder.at("a"), `${folder.path}.link`);
    expect(await refusal(undefined, `${folder.path}.link`)).toBe(": is a link");
    await rm(`${folder.path}.link`);
  });

  it("so that a link which takes the place of a file or folder meanwhile is refused", async () => {
    const other = await SkillFolder.make();
    try {
      await other.skill(".", "other");
      await folder.skill("a", "a");
      const swapFile: SkillFiles = {
        ...machineFiles,
        async open(path, flags) {
          await rm(path);
          await symlink(other.at("SKILL.md"), path);
          return machineFiles.open(path, flags);
        },
      };
      expect(await refusal(swapFile)).toBe("a/SKILL.md: changed while it was read");
      await rm(folder.at("a"), { recursive: true });
      await folder.skill("a", "a");
      const swapFolder: SkillFiles = {
        ...machineFiles,
        async *names(path) {
          if (path === folder.at("a")) {
            await rename(path, `${path}-was`);
            await symlink(other.path, path);
          }
          yield* machineFiles.names(path);
        },
      };
      expect(await refusal(swapFolder)).toMatch(/changed while it was read$/);
    } finally {
      await other.close();
    }
  });

  it.skipIf(process.platform === "win32")("so that pipes and sockets are refused, and not waited for", async () => {
    await promisify(execFile)("mkfifo", [folder.at("pipe")]);
    expect(await refusal()).toBe("pipe: is neither a file nor a folder");
    await rm(folder.at("pipe"));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(folder.at("socket"), resolve));
    expect(await refusal()).toBe("socket: is neither a file nor a folder");
    await new Promise((resolve) => server.close(resolve));
  });

  it.skipIf(process.platform === "win32").each(["a\nb", "a\u202eb", "a\u061cb", "a\\b", "\u001b[2J"])(
    "so that nothing in it is called %j",
    async (name) => {
      await folder.write(join(name, "x"));
      expect(await refusal()).toMatch(/: has a name that can't be shown$/);
    },
  );
});

describe("H-29: a folder of skills that can't be read", () => {
  it("is refused when it is not there, is a file, or is no absolute path", async () => {
    expect(await refusal(undefined, folder.at("none"))).toBe(": is not there");
    await folder.write("file");
    expect(await refusal(undefined, folder.at("file"))).toBe(": is no folder");
    expect(await refusal(undefined, folder.at("file/below"))).toBe(": is not there");
    expect(await refusal(undefined, "skills")).toBe(": has no absolute path");
  });

  /** Each question to the file system, in order, until a folder with one skill was read. */
  async function questions(): Promise<readonly string[]> {
    const asked: string[] = [];
    await read(failing((question) => void asked.push(question)));
    return asked;
  }

  /** Files that `before` can fail. */
  function failing(before: (question: string) => void): SkillFiles {
    const ask = async <T>(question: string, path: string, answer: () => Promise<T>): Promise<T> => {
      before(`${question} ${path.slice(folder.path.length)}`);
      return answer();
    };
    return {
      lstat: (path, options) => ask("lstat", path, () => machineFiles.lstat(path, options)),
      async *names(path) {
        before(`names ${path.slice(folder.path.length)}`);
        yield* machineFiles.names(path);
      },
      async open(path, flags) {
        const file = await ask("open", path, () => machineFiles.open(path, flags));
        return {
          stat: (options) => ask("stat", path, () => file.stat(options)),
          read: (...args) => ask("read", path, () => file.read(...args)),
          close: () => file.close(),
        };
      },
    };
  }

  it("is refused as a whole, whichever question fails, and whatever is the matter", async () => {
    await folder.skill("a", "a");
    const asked = await questions();
    expect(asked).toEqual([
      "lstat ",
      "names ",
      "lstat /a",
      "names /a",
      "lstat /a/SKILL.md",
      "open /a/SKILL.md",
      "stat /a/SKILL.md",
      "read /a/SKILL.md",
      "read /a/SKILL.md",
      "stat /a/SKILL.md",
      "lstat ",
      "lstat /a",
      "lstat /a/SKILL.md",
    ]);
    for (const [at] of asked.entries()) {
      for (const code of ["EACCES", "EIO", "EMFILE"]) {
        let left = at;
        const files = failing(() => {
          if (left === 0) throw Object.assign(new Error("no"), { code });
          left -= 1;
        });
        expect(await refusal(files), asked[at]).toMatch(new RegExp(`: can't be read \\(${code}\\)$`));
      }
    }
  });

  it("is refused when it changes, whenever that is", async () => {
    await folder.skill("a", "a");
    await folder.write("a/notes.md", "old");
    const count = (await questions()).length;
    const changes: Record<string, () => Promise<void>> = {
      "a file grows": () => appendFile(folder.at("a/SKILL.md"), "x"),
      "a file shrinks": () => writeFile(folder.at("a/SKILL.md"), "---"),
      "a file is written anew": () => writeFile(folder.at("a/notes.md"), "newer"),
      "a file goes": () => rm(folder.at("a/SKILL.md")),
      "a folder goes": () => rm(folder.at("a"), { recursive: true }),
      "a file comes": () => folder.write("a/new.md", "x"),
      "a file is replaced": async () => {
        await folder.write("new.md", skillText("b"));
        await rename(folder.at("new.md"), folder.at("a/SKILL.md"));
      },
      "a file is written anew, and its time is set back": async () => {
        // Times of files are as fine as a tick of the kernel's clock.
        await setTimeout(20);
        await writeFile(folder.at("a/notes.md"), "new");
        await utimes(folder.at("a/notes.md"), 1, 1);
      },
    };
    for (const [change, make] of Object.entries(changes)) {
      // After the first look at everything, and before the last.
      for (let at = 7; at < count - 3; at += 1) {
        await rm(folder.at("a"), { recursive: true, force: true });
        await folder.skill("a", "a");
        await folder.write("a/notes.md", "old");
        await utimes(folder.at("a/notes.md"), 1, 1);
        let left = at;
        const machine = failing(() => void (left -= 1));
        const files: SkillFiles = {
          ...machine,
          async open(path, flags) {
            const file = await machine.open(path, flags);
            const then = async (): Promise<void> => {
              if (left <= 0) await make();
              if (left <= 0) left = Infinity;
            };
            return {
              stat: (options) => then().then(() => file.stat(options)),
              read: (...args) => then().then(() => file.read(...args)),
              close: () => then().then(() => file.close()),
            };
          },
        };
        expect(await refusal(files), `${change} at ${String(at)}`).toMatch(/: changed while it was read$/);
      }
    }
  });

  it("closes every file that it opened", async () => {
    await folder.skill("a", "a");
    let open = 0;
    const files: SkillFiles = {
      ...machineFiles,
      async open(path, flags) {
        const file = await machineFiles.open(path, flags);
        open += 1;
        const close = (): Promise<void> => ((open -= 1), file.close());
        return { stat: (options) => file.stat(options), read: () => Promise.reject(new Error("no")), close };
      },
    };
    expect(await refusal(files)).toBe("a/SKILL.md: can't be read (unknown)");
    expect(open).toBe(0);
  });

  it("is given up with the signal's reason", async () => {
    await folder.skill("a", "a");
    const controller = new AbortController();
    const reason = new Error("enough");
    const files: SkillFiles = {
      ...machineFiles,
      async *names(path) {
        controller.abort(reason);
        yield* machineFiles.names(path);
      },
    };
    const reading = readSkills({ connectorKey: "mail", root: folder.path, signal: controller.signal, files });
    await expect(reading).rejects.toBe(reason);
  });

  it("takes a file with several names for what it is", async () => {
    await folder.skill("a", "a");
    await link(folder.at("a/SKILL.md"), folder.at("a/copy.md"));
    expect(await namesOf()).toEqual(["a"]);
  });
});
