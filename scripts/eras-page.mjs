import { parseSync } from "oxc-parser";
import { alignedTable } from "./aligned-table.mjs";

const MEANINGS = {
  modern: "modern",
  modern_refused: "modern; the error is the outcome",
  initialize: "legacy: `initialize`, with the revision that the server named, else with the newest",
  authorize: "unknown: the error is the outcome, and nothing is remembered; authorize, then connect again",
  no_revision: "`unsupported_version` with both lists",
  undecided: "unknown: the error is the outcome, and nothing is remembered",
};

/**
 * The table by which probes are judged, as `src/protocol/era.ts` has it, between the lines of a page that mark its place.
 *
 * @param {string} source
 * @param {string} page
 * @returns {string}
 */
export function erasPage(source, page) {
  const rows = rulesIn(source).map(({ answer, verdict }) => [answer, meaningOf(verdict)]);
  const table = alignedTable([["answer to `server/discover`", "era"], ...rows]);
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error("docs/eras.md has no place for the table");
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`;
}

const BEGIN = "<!-- The table is generated from src/protocol/era.ts by `npm run docs`. -->";
const END = "<!-- End of the table. -->";

function rulesIn(source) {
  const { program } = parseSync("era.ts", source);
  for (const { declaration } of program.body) {
    const variable = declaration?.type === "VariableDeclaration" ? declaration.declarations[0] : undefined;
    if (variable?.id.name !== "ERA_RULES") continue;
    return variable.init.elements.map(({ properties }) => ({
      answer: textOf(properties, "answer"),
      verdict: textOf(properties, "verdict"),
    }));
  }
  throw new Error("src/protocol/era.ts has no ERA_RULES");
}

function textOf(properties, name) {
  const value = properties.find(({ key }) => key.name === name)?.value.value;
  if (typeof value !== "string") throw new Error(`A rule in src/protocol/era.ts has no text ${name}`);
  return value;
}

function meaningOf(verdict) {
  const meaning = MEANINGS[verdict];
  if (meaning === undefined) throw new Error(`No meaning is written down for the verdict ${verdict}`);
  return meaning;
}
