import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readAmbientUses } from "./ambient-uses.js";
import { listProjectFiles, readProjectJson, readSourceTree, ROOT } from "./source-tree.js";

/** A path below a folder that one machine has and the next one hasn't. A URL's path and a regex's escapes don't count. */
const MACHINE_PATH = /(?<![\w.~\\-])(?:\/(?:work|root|home|Users)\/|[A-Z]:\\Users\\)/;
const UNFINISHED = /\b(?:TODO|FIXME|XXX|HACK)\b/;

/** `file:line` of each line of `text` that matches. */
function linesWith(pattern: RegExp, path: string, text: string): readonly string[] {
  return text.split("\n").flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}`] : []));
}

/** A path that this file itself must not hold. */
function below(...names: readonly string[]): string {
  return ["", ...names].join("/");
}

describe("the text of the project", () => {
  const sources = [...readSourceTree()].filter(([path]) => path.endsWith(".ts"));

  it("names no path of one machine", () => {
    const files = listProjectFiles();
    expect(files).toContain("package.json");
    expect(files.flatMap((path) => linesWith(MACHINE_PATH, path, readFileSync(join(ROOT, path), "utf8")))).toEqual([]);
  });

  it("has no download addresses in its lock file", () => {
    const lock = readProjectJson("package-lock.json");
    const packages: Record<string, object> = Reflect.get(Object(lock), "packages");
    expect(Object.keys(packages)).toContain("node_modules/undici");
    expect(Object.keys(packages).filter((name) => "resolved" in (packages[name] ?? {}))).toEqual([]);
  });

  it("writes nothing to the console but from the command line", () => {
    const library = sources.filter(([path]) => !path.startsWith("cli/"));
    expect(
      library.filter(([path, text]) => readAmbientUses(path, text).includes("console")).map(([path]) => path),
    ).toEqual([]);
  });

  it("leaves no notes of unfinished work in src", () => {
    expect(sources.flatMap(([path, text]) => linesWith(UNFINISHED, path, text))).toEqual([]);
  });
});

describe("the patterns", () => {
  it.each([
    below("work", "main"),
    `"${below("home", "me", "x")}"`,
    below("root", ".npmrc"),
    below("Users", "me"),
    "C:\\Users\\me",
  ])("find the machine in %s", (text) => expect(linesWith(MACHINE_PATH, "x", text)).toEqual(["x:1"]));

  it.each([
    `https://example.com${below("home", "page")}`,
    `.${below("work", "x")}`,
    below("tmp", "x"),
    "at work / home",
  ])("leave %s alone", (text) => expect(linesWith(MACHINE_PATH, "x", text)).toEqual([]));

  it("find a note of unfinished work", () => {
    expect(linesWith(UNFINISHED, "x", "a\n// FIXME: b")).toEqual(["x:2"]);
    expect(linesWith(UNFINISHED, "x", "todos")).toEqual([]);
  });
});
