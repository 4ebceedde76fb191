import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SchemaVerdict } from "../../../src/protocol/json-schema/index.js";
import { ROOT } from "../../architecture/source-tree.js";
import { DRAFT_07, VALIDATORS } from "./validators.js";

interface Group {
  readonly file: string;
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly data: unknown; readonly valid: boolean }[];
}

function readGroups(draft: string): readonly Group[] {
  const path = join(ROOT, "test", "contract", "json-schema", "official-suite", `${draft}.jsonl`);
  return readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line): Group => JSON.parse(line));
}

/** Groups whose schemas refer to documents elsewhere, which are never fetched. */
const REMOTE = /localhost:1234|json-schema\.org\/draft(?:-07|\/2020-12)\/schema/;

function said(verdict: SchemaVerdict): boolean | string {
  if (verdict.kind === "valid") return true;
  return verdict.kind === "invalid" && verdict.of === "value" ? false : verdict.kind;
}

describe.each(VALIDATORS)("%s, on the official suite", (name, create) => {
  it.each([
    ["2020-12", "draft2020-12", undefined],
    ["draft-07", "draft7", DRAFT_07],
  ])("W-38: judges all of %s right, but for what is never fetched", async (_, draft, dialect) => {
    const validator = create();
    const wrong: string[] = [];
    let right = 0;
    for (const { file, description, schema, tests } of readGroups(draft)) {
      const whole = dialect === undefined || typeof schema !== "object" ? schema : { $schema: dialect, ...schema };
      for (const { data, valid } of tests) {
        const found = said(await validator.validate(whole, data));
        if (found === valid) right += 1;
        else if (!mayRefuse(found, file, schema))
          wrong.push(`${file}: ${description}: ${JSON.stringify(data)}: ${String(found)}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(right).toBeGreaterThan(draft === "draft7" ? 870 : 1_210);
  });

  function mayRefuse(found: boolean | string, file: string, schema: unknown): boolean {
    if (found === "unresolved_ref") return REMOTE.test(JSON.stringify(schema));
    if (found !== "unsupported_dialect") return false;
    // Vocabularies of one's own make another dialect; the interpreter does not take every pattern on names.
    return file === "vocabulary.json" || (name === "the interpreter" && file === "patternProperties.json");
  }
});
