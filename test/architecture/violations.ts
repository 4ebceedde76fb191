import { builtinModules } from "node:module";
import { posix } from "node:path";
import { readAmbientUses } from "./ambient-uses.js";
import { type ModuleImport, readImports } from "./module-imports.js";
import { type FolderRule, NAMELESS_FOLDERS } from "./table.js";

/** Source files by their path below `src`, with `/` between the names: code and READMEs. */
export type SourceTree = ReadonlyMap<string, string>;
export type RuleTable = Readonly<Record<string, FolderRule>>;

const README_LINES = 15;

/** The row that a file belongs to: its folder, or itself when it lies in `src`. */
function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === "." ? posix.basename(path, ".ts") : folder;
}

/** What is wrong with the folders themselves: unknown and nameless ones, and those without an index or a README. */
export function folderViolations(tree: SourceTree, table: RuleTable): readonly string[] {
  const found: string[] = [];
  const modules = [...tree.keys()].filter((path) => path.endsWith(".ts"));
  const folders = new Set(modules.map(folderOf));
  for (const folder of folders) {
    const nameless = folder.split("/").find((name) => NAMELESS_FOLDERS.includes(name));
    if (nameless !== undefined) found.push(`${folder}: no folder is called ${nameless}`);
    else if (table[folder] === undefined) found.push(`${folder}: the table has no row for it`);
    if (tree.has(`${folder}.ts`)) continue;
    if (!tree.has(`${folder}/index.ts`)) found.push(`${folder}: has no index.ts`);
    const lines = tree.get(`${folder}/README.md`)?.trimEnd().split("\n").length;
    if (lines === undefined) found.push(`${folder}: has no README.md`);
    else if (lines > README_LINES) found.push(`${folder}: its README.md has ${lines} lines, more than ${README_LINES}`);
  }
  return found;
}

/** Imports that the table does not allow. */
export function importViolations(tree: SourceTree, table: RuleTable, ownPackage: string): readonly string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    const rule = table[folderOf(path)];
    if (!path.endsWith(".ts") || rule === undefined) continue;
    for (const each of readImports(path, text)) {
      const verdict = judgeImport({ path, rule, tree, table, ownPackage }, each);
      if (verdict !== undefined) found.push(`${path}: ${each.specifier ?? "(computed)"}: ${verdict}`);
    }
  }
  return found;
}

interface Importer {
  readonly path: string;
  readonly rule: FolderRule;
  readonly tree: SourceTree;
  readonly table: RuleTable;
  readonly ownPackage: string;
}

function judgeImport(importer: Importer, { specifier, kind }: ModuleImport): string | undefined {
  const { path, rule, tree, ownPackage } = importer;
  if (specifier === undefined) return "what it loads can't be read from the source";
  if (specifier.startsWith("node:")) return rule.pure === true ? "a pure folder imports no node: module" : undefined;
  if (!specifier.startsWith(".")) {
    const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    if (name === ownPackage) return "files of this package import each other by path";
    if (builtinModules.includes(name)) return `write node:${specifier}`;
    return rule.packages.includes(name) ? undefined : `the table does not give ${folderOf(path)} this package`;
  }
  const target = resolveRelative(path, specifier);
  if (target === undefined || !tree.has(target)) return "there is no such source file";
  return judgeFolder(importer, target, kind);
}

function judgeFolder({ path, rule, table }: Importer, target: string, kind: ModuleImport["kind"]): string | undefined {
  const from = folderOf(path);
  const to = folderOf(target);
  const surface = target === `${to}.ts` || target === `${to}/index.ts`;
  if (from === to) return surface && path !== target ? "a folder's own index is for others" : undefined;
  if (from.startsWith(`${to}/`)) return undefined;
  if (!surface) return `reaches past the index of ${to}`;
  if (to.startsWith(`${from}/`)) {
    return kind === "static" && table[to]?.loadedOnUse === true ? `${to} is loaded only when it is used` : undefined;
  }
  if (rule.imports.includes(to)) return undefined;
  if (rule.composes?.includes(to) === true) {
    return path === `${from}/index.ts` ? undefined : `only the index of ${from} may import ${to}`;
  }
  if (rule.typesOf?.includes(to) === true)
    return kind === "type" ? undefined : `${from} may import only types of ${to}`;
  return `${from} may not import ${to}`;
}

/** Uses of network, time, chance or process in a pure folder. */
export function purityViolations(tree: SourceTree, table: RuleTable): readonly string[] {
  const found: string[] = [];
  for (const [path, text] of tree) {
    if (!path.endsWith(".ts") || table[folderOf(path)]?.pure !== true) continue;
    for (const use of readAmbientUses(path, text)) found.push(`${path}: uses ${use}`);
  }
  return found;
}

/** Cycles between files, by whichever form of import: each once, as the way around it. */
export function fileCycles(tree: SourceTree): readonly string[] {
  const paths = [...tree.keys()].filter((path) => path.endsWith(".ts"));
  return cycles(paths, (path) =>
    readImports(path, tree.get(path) ?? "").flatMap(({ specifier }) => {
      const target = specifier?.startsWith(".") === true ? resolveRelative(path, specifier) : undefined;
      return target !== undefined && tree.has(target) ? [target] : [];
    }),
  );
}

/** Circles of folders that the table would allow. */
export function tableCycles(table: RuleTable): readonly string[] {
  return cycles(Object.keys(table), (folder) => {
    const { imports = [], typesOf = [], composes = [] } = table[folder] ?? {};
    return [...imports, ...typesOf, ...composes];
  });
}

function cycles(names: readonly string[], next: (name: string) => readonly string[]): readonly string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (name: string, way: readonly string[]): void => {
    const seenAt = way.indexOf(name);
    if (seenAt !== -1) found.push([...way.slice(seenAt), name].join(" → "));
    if (seenAt !== -1 || done.has(name)) return;
    for (const each of next(name)) visit(each, [...way, name]);
    done.add(name);
  };
  for (const name of names) visit(name, []);
  return found;
}

function resolveRelative(path: string, specifier: string): string | undefined {
  return specifier.endsWith(".js") ? posix.join(posix.dirname(path), specifier.replace(/\.js$/, ".ts")) : undefined;
}

/** Subpaths of package.json that don't stand for a folder's index, and folders that should have a subpath. */
export function exportViolations(
  exportsMap: Readonly<Record<string, unknown>>,
  tree: SourceTree,
  table: RuleTable,
): readonly string[] {
  const found: string[] = [];
  for (const [subpath, target] of Object.entries(exportsMap)) {
    if (subpath === "./package.json") continue;
    const folder = subpath === "." ? "index" : subpath.slice(2);
    const module = surfaceOf(folder, tree);
    if (module === undefined) {
      found.push(`${subpath}: has no index in src`);
      continue;
    }
    const built = `./dist/${module.replace(/\.ts$/, "")}`;
    // The order counts: a condition that comes first wins.
    const expected = JSON.stringify({ types: `${built}.d.ts`, default: `${built}.js` });
    if (JSON.stringify(target) !== expected) found.push(`${subpath}: is not ${expected}`);
    if (table[folder]?.internal === true) found.push(`${subpath}: ${folder} is not public`);
  }
  for (const [folder, rule] of Object.entries(table)) {
    const subpath = folder === "index" ? "." : `./${folder}`;
    if (rule.internal === true || surfaceOf(folder, tree) === undefined || subpath in exportsMap) continue;
    found.push(`${subpath}: package.json has no such subpath`);
  }
  return found;
}

function surfaceOf(folder: string, tree: SourceTree): string | undefined {
  return [`${folder}.ts`, `${folder}/index.ts`].find((path) => tree.has(path));
}
