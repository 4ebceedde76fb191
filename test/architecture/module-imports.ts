import { identifierName, literalText, parseModule, walk } from "./syntax.js";

/** One import of a module, in whichever of its forms. */
export interface ModuleImport {
  /** What is asked for; `undefined` when it is computed, so that nobody can say what it loads. */
  readonly specifier: string | undefined;
  /**
   * - `static`: runs when the module is loaded. `import { type A }` is one: the statement stays in the output.
   * - `dynamic`: runs when it is reached.
   * - `type`: gone after compilation.
   */
  readonly kind: "static" | "dynamic" | "type";
}

/** All imports of a TypeScript module, re-exports included, in the order in which they stand. */
export function readImports(path: string, text: string): readonly ModuleImport[] {
  const found: ModuleImport[] = [];
  walk(parseModule(path, text), (node) => {
    switch (node.type) {
      case "ImportDeclaration":
        found.push({ specifier: literalText(node["source"]), kind: node["importKind"] === "type" ? "type" : "static" });
        break;
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
        // `export const …` and `export { … }` have no source.
        if (node["source"] === null) break;
        found.push({ specifier: literalText(node["source"]), kind: node["exportKind"] === "type" ? "type" : "static" });
        break;
      case "ImportExpression":
        found.push({ specifier: literalText(node["source"]), kind: "dynamic" });
        break;
      case "TSImportType":
        found.push({ specifier: literalText(node["source"]), kind: "type" });
        break;
      case "TSExternalModuleReference":
        found.push({ specifier: literalText(node["expression"]), kind: "static" });
        break;
      case "CallExpression": {
        const [argument] = Array.isArray(node["arguments"]) ? node["arguments"] : [];
        if (identifierName(node["callee"]) === "require")
          found.push({ specifier: literalText(argument), kind: "static" });
        break;
      }
    }
  });
  return found;
}
