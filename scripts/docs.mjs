/**
 * `npm run docs` writes the pages of `docs` that are made from source; with `--check` it writes nothing, and fails
 * when a page is not what the source says.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { erasPage } from "./eras-page.mjs";
import { errorsPage } from "./errors-page.mjs";
import { optionsPage } from "./options-page.mjs";
import { citingFiles } from "./rules/cited-rules.mjs";
import { coveragePage } from "./rules/coverage-page.mjs";
import { readRuleBook } from "./rules/rule-book.mjs";

const pages = {
  "docs/coverage.md": coveragePage(readRuleBook(), citingFiles("test")),
  "docs/eras.md": erasPage(readFileSync("src/protocol/era.ts", "utf8"), readFileSync("docs/eras.md", "utf8")),
  "docs/errors.md": errorsPage(readFileSync("src/errors.ts", "utf8")),
  "docs/options.md": optionsPage((path) => readFileSync(path, "utf8")),
};
const checking = process.argv.includes("--check");

for (const [path, text] of Object.entries(pages)) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  if (checking) {
    console.error(`${path} is not what the source says: run npm run docs`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, text);
    console.log(`wrote ${path}`);
  }
}
