import { parseSync, visitorKeys } from "oxc-parser";

/** A node of the ESTree that the parser returns. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly [member: string]: unknown;
}

/** Whether `value` is a node. */
export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, "type") === "string";
}

/** Parses a TypeScript file; a file that is not TypeScript throws. */
export function parseModule(path: string, text: string): SyntaxNode {
  const { program, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path}: ${error.message}`);
  if (!isNode(program)) throw new Error(`${path}: no program`);
  return program;
}

/** Visits `node` and all below it, parents first. A visitor that returns `false` keeps the walk out of that node. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode, parent?: SyntaxNode) => boolean | void): void {
  const step = (current: SyntaxNode, parent?: SyntaxNode): void => {
    if (visit(current, parent) === false) return;
    for (const key of visitorKeys[current.type] ?? []) {
      const child = current[key];
      for (const each of Array.isArray(child) ? child : [child]) if (isNode(each)) step(each, current);
    }
  };
  step(node);
}

/** The text of a string literal, `undefined` for everything else. */
export function literalText(node: unknown): string | undefined {
  return isNode(node) && node.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined;
}

/** The name of an identifier, `undefined` for everything else. */
export function identifierName(node: unknown): string | undefined {
  return isNode(node) && node.type === "Identifier" && typeof node["name"] === "string" ? node["name"] : undefined;
}
