import { posix } from "node:path";
import { identifierName, isNode, literalText, parseModule, type SyntaxNode } from "../architecture/syntax.js";

/** The names that a module exports, sorted. */
export interface ExportedNames {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

/** What the module at `path` exports, read from source: `export *` is followed through `tree`. */
export function readExportedNames(path: string, tree: ReadonlyMap<string, string>): ExportedNames {
  const values = new Set<string>();
  const types = new Set<string>();
  const { body } = parseModule(path, tree.get(path) ?? "");
  for (const statement of nodes(body)) {
    if (statement.type === "ExportAllDeclaration") {
      const source = literalText(statement["source"]) ?? "";
      const target = posix.join(posix.dirname(path), source.replace(/\.js$/, ".ts"));
      if (statement["exported"] !== null || !tree.has(target)) throw new Error(`${path}: can't follow ${source}`);
      const inner = readExportedNames(target, tree);
      const typesOnly = statement["exportKind"] === "type";
      for (const name of inner.types) types.add(name);
      for (const name of inner.values) (typesOnly ? types : values).add(name);
    } else if (statement.type === "ExportNamedDeclaration") {
      for (const specifier of nodes(statement["specifiers"])) {
        const typeOnly = statement["exportKind"] === "type" || specifier["exportKind"] === "type";
        (typeOnly ? types : values).add(identifierName(specifier["exported"]) ?? "?");
      }
      if (isNode(statement["declaration"])) {
        const { declaration } = statement;
        const typeOnly = declaration.type === "TSInterfaceDeclaration" || declaration.type === "TSTypeAliasDeclaration";
        for (const name of declaredNames(declaration)) (typeOnly ? types : values).add(name);
      }
    }
  }
  return { values: [...values].toSorted(), types: [...types].toSorted() };
}

function declaredNames(declaration: SyntaxNode): readonly string[] {
  if (declaration.type !== "VariableDeclaration") return [identifierName(declaration["id"]) ?? "?"];
  return nodes(declaration["declarations"]).map((each) => identifierName(each["id"]) ?? "?");
}

function nodes(value: unknown): readonly SyntaxNode[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}
