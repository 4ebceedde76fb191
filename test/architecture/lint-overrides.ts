import { posix } from "node:path";
import type { FolderRule } from "./table.js";

/** An override of the linter's configuration that says of one folder what its row in the table says. */
export interface LintOverride {
  readonly files: readonly string[];
  readonly rules: {
    readonly "no-restricted-imports": readonly ["error", { readonly patterns: readonly LintPattern[] }];
  };
}

interface LintPattern {
  readonly group: readonly string[];
  readonly message: string;
}

/**
 * The table as overrides, outer folders first: of two that fit a file the linter takes the later one.
 *
 * The linter can't tell types from values, nor an index from its folder's other files: that is left to the test.
 */
export function lintOverrides(table: Readonly<Record<string, FolderRule>>): readonly LintOverride[] {
  return Object.entries(table).map(([folder, rule]) => {
    const file = isFile(folder);
    const allowed = [...rule.imports, ...(rule.typesOf ?? []), ...(rule.composes ?? [])].map((each) => {
      const path = posix.relative(file ? "." : folder, isFile(each) ? `${each}.js` : `${each}/index.js`);
      return `!${path.startsWith(".") ? path : `./${path}`}`;
    });
    // A folder inside another may import the outer one's files.
    const outer = folder
      .split("/")
      .slice(1)
      .map((_, i) => `!${"../".repeat(i + 1)}*.js`);
    const group = [file ? "./**" : "../**", ...outer, ...allowed];
    const message = `The table of folders does not let ${folder} import this.`;
    const patterns = [{ group, message }, ...(rule.pure === true ? [{ group: ["node:*"], message }] : [])];
    return {
      files: [file ? `src/${folder}.ts` : `src/${folder}/**`],
      rules: { "no-restricted-imports": ["error", { patterns }] },
    };
  });
}

function isFile(folder: string): boolean {
  return ["errors", "index", "open-list", "options"].includes(folder);
}
