import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

/** Calls that name a test or a group of tests. */
const NAMING = new Set(["describe", "it", "test"]);

/**
 * The numbers of requirements in a name, each once.
 *
 * @param {string} name
 * @returns {readonly string[]}
 */
export function rulesIn(name) {
  return [...new Set(name.match(/\b[A-Z]-[1-9]\d*\b/g) ?? [])];
}

/**
 * The files whose tests cite a requirement in their names or in the name of a group around them, by its number.
 *
 * @param {string} folder
 * @returns {ReadonlyMap<string, readonly string[]>}
 */
export function citingFiles(folder) {
  const files = new Map();
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  for (const path of paths.filter((name) => name.endsWith(".ts")).sort()) {
    const file = `${folder}/${path}`;
    for (const rule of citedIn(file, readFileSync(join(folder, path), "utf8"))) {
      files.set(rule, [...(files.get(rule) ?? []), file]);
    }
  }
  return files;
}

/**
 * The requirements that the names of tests in a source text cite. Skipped ones don't count.
 *
 * @param {string} file
 * @param {string} source
 * @returns {ReadonlySet<string>}
 */
export function citedIn(file, source) {
  const cited = new Set();
  if (!/\b[A-Z]-[1-9]/.test(source)) return cited;
  new Visitor({
    CallExpression({ callee, arguments: [name] }) {
      const words = wordsOf(callee);
      if (!NAMING.has(words[0]) || words.some((word) => word === "skip" || word === "todo")) return;
      for (const rule of rulesIn(textOf(name))) cited.add(rule);
    },
  }).visit(parseSync(file, source).program);
  return cited;
}

/** The names of a callee, outermost last: of `it.each(table)` they are `it` and `each`. */
function wordsOf(callee) {
  if (callee.type === "Identifier") return [callee.name];
  if (callee.type === "MemberExpression" && !callee.computed) return [...wordsOf(callee.object), callee.property.name];
  if (callee.type === "CallExpression") return wordsOf(callee.callee);
  if (callee.type === "TaggedTemplateExpression") return wordsOf(callee.tag);
  return [""];
}

function textOf(node) {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  if (node?.type === "TemplateLiteral") return node.quasis.map(({ value }) => value.cooked).join("_");
  return "";
}
