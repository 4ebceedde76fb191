import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { ImportReport, Place } from "../import-report.js";

const MAX_CONFIG_BYTES = 1024 * 1024;
const MAX_DEPTH = 64;
/** Members of a file that anything is read from. In the others the last of two of a name counts, as in JSON. */
const READ = new Set(["inputs", "mcp", "mcpServers", "servers"]);

/**
 * Reads JSON with comments and trailing commas. Its objects have no prototype, so that every name in them is a name like any
 * other. `undefined` when the report says why it is refused: it is too large, too deep, no such text, or names twice
 * what is read.
 */
export function readConfigText(text: string, report: ImportReport): unknown {
  if (Buffer.byteLength(text, "utf8") > MAX_CONFIG_BYTES) {
    report.refuse([], `larger than ${String(MAX_CONFIG_BYTES)} bytes`);
    return undefined;
  }
  const content = text.replace(/^\ufeff/, "");
  // The parser recurses, and would run out of stack.
  if (depthOf(content) > MAX_DEPTH) {
    report.refuse([], `nested more than ${String(MAX_DEPTH)} deep`);
    return undefined;
  }
  const errors: ParseError[] = [];
  const root = parseTree(content, errors, { allowTrailingComma: true, disallowComments: false });
  const [error] = errors;
  if (root === undefined || error !== undefined) {
    report.refuse([], `no JSON with comments: ${error === undefined ? "nothing is there" : describe(error, content)}`);
    return undefined;
  }
  const value = valueOf(root, [], report);
  return report.refusalCount === 0 ? value : undefined;
}

function depthOf(text: string): number {
  const scanner = createScanner(text, true);
  let depth = 0;
  let deepest = 0;
  while (scanner.getPosition() < text.length) {
    scanner.scan();
    const first = text[scanner.getTokenOffset()];
    if (first === "{" || first === "[") depth += 1;
    else if (first === "}" || first === "]") depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function describe({ error, offset }: ParseError, text: string): string {
  const before = text.slice(0, offset).split("\n");
  const column = (before.at(-1)?.length ?? 0) + 1;
  return `${printParseErrorCode(error)} in line ${String(before.length)}, column ${String(column)}`;
}

function valueOf(node: Node, place: Place, report: ImportReport): unknown {
  const { type, children = [] } = node;
  if (type === "array") return children.map((child, index) => valueOf(child, [...place, index], report));
  if (type !== "object") return node.value;
  const value: Record<string, unknown> = Object.create(null);
  for (const { children: [key, member] = [] } of children) {
    if (key === undefined || member === undefined) continue;
    const name = String(key.value);
    const inside = [...place, name];
    if (name in value && READ.has(String(inside[0]))) report.refuse(inside, "is there twice");
    value[name] = valueOf(member, inside, report);
  }
  return value;
}
