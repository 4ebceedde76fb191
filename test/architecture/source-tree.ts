import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the project. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Paths of all files below `folder`, relative to it, with `/` between the names, sorted. */
function listFiles(folder: string, skip: (name: string) => boolean = () => false): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !skip(entry.name))
    .flatMap((entry) =>
      entry.isDirectory()
        ? listFiles(join(folder, entry.name), skip).map((path) => `${entry.name}/${path}`)
        : [entry.name],
    )
    .toSorted();
}

/** All files of `src` with their text, by their path below it. */
export function readSourceTree(): ReadonlyMap<string, string> {
  const src = join(ROOT, "src");
  return new Map(listFiles(src).map((path) => [path, readFileSync(join(src, path), "utf8")]));
}

/** All files of the project that are under version control or could be: what `.gitignore` names is left out. */
export function listProjectFiles(): readonly string[] {
  const ignored = readFileSync(join(ROOT, ".gitignore"), "utf8").split("\n");
  const names = new Set([".git", ...ignored.map((line) => line.trim().replace(/\/$/, ""))]);
  const endings = [...names].filter((name) => name.startsWith("*")).map((name) => name.slice(1));
  return listFiles(ROOT, (name) => names.has(name) || endings.some((ending) => name.endsWith(ending)));
}

/** A JSON file of the project. */
export function readProjectJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}
