import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const REPORT = join("reports", "tests.json");

/** What the outcome of the tests depends on. */
const FOLDERS = ["src", "test", "examples", "bench", "scripts"];
const FILES = ["package-lock.json", "package.json", "tsconfig.json", "vitest.config.ts"];

/** A digest of the sources: a report belongs to a run of the same ones, committed or not. */
export function sourcesDigest() {
  const hash = createHash("sha256");
  const below = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const paths = [...FILES, ...below].sort((a, b) => (a < b ? -1 : 1));
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(path)).update("\0");
  return hash.digest("hex");
}

/**
 * Keeps the outcome of a whole run.
 *
 * @param {{ sources: string; tests: readonly import("./judge-rules.mjs").Test[] }} report
 */
export function writeTestReport(report) {
  mkdirSync(dirname(REPORT), { recursive: true });
  writeFileSync(REPORT, `${JSON.stringify(report)}\n`);
}

/**
 * The tests of the last whole run, if it was one of the sources as they are now.
 *
 * @returns {readonly import("./judge-rules.mjs").Test[] | undefined}
 */
export function readTestReport() {
  if (!existsSync(REPORT)) return undefined;
  const { sources, tests } = JSON.parse(readFileSync(REPORT, "utf8"));
  return sources === sourcesDigest() ? tests : undefined;
}
