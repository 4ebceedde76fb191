import { posix } from "node:path";
import { describe, expect, it } from "vitest";
import { readImports } from "./module-imports.js";
import { readSourceTree } from "./source-tree.js";

/** Every module that one loads, or could load, and every package. Imports of types alone load nothing. */
function loadedFrom(entry: string): { readonly modules: ReadonlySet<string>; readonly packages: ReadonlySet<string> } {
  const tree = readSourceTree();
  const modules = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (modules.has(path)) return;
    modules.add(path);
    for (const { specifier, kind } of readImports(path, tree.get(path) ?? "")) {
      if (kind === "type" || specifier === undefined) continue;
      if (specifier.startsWith(".")) visit(posix.join(posix.dirname(path), specifier.replace(/\.js$/, ".ts")));
      else if (!specifier.startsWith("node:")) packages.add(specifier);
    }
  };
  visit(entry);
  return { modules, packages };
}

/** What knows a gateway, a login, or the account's credentials. */
const FORBIDDEN =
  /^(auth-projection|connector-host\/(factories|host|relay\/desktop)|gateway|oauth|store|serving|cli)\//;

describe("H-7: the guest half of the relay", () => {
  const { modules } = loadedFrom("connector-host/relay/guest/index.ts");

  it("can't load the direct factory, a login, or anything of the desktop", () => {
    expect([...modules].filter((path) => FORBIDDEN.test(path))).toEqual([]);
    expect([...modules]).toContain("connector-host/relay/guest/relay-exchange.ts");
  });

  it("would be found out: the desktop half and the whole host can", () => {
    for (const entry of ["connector-host/relay/desktop/index.ts", "connector-host/index.ts"]) {
      expect([...loadedFrom(entry).modules].filter((path) => FORBIDDEN.test(path))).not.toEqual([]);
    }
  });
});
