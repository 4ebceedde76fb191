import { describe, expect, it } from "vitest";
import { readAmbientUses } from "./ambient-uses.js";
import { readImports } from "./module-imports.js";
import { readProjectJson, readSourceTree } from "./source-tree.js";
import { TABLE } from "./table.js";
import {
  exportViolations,
  fileCycles,
  folderViolations,
  importViolations,
  purityViolations,
  tableCycles,
} from "./violations.js";

const PACKAGE = "remote-connector";

function at(module: string): { readonly types: string; readonly default: string } {
  return { types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` };
}

describe("the source tree", () => {
  const tree = readSourceTree();

  it("has only folders of the table, each with an index and a short README", () => {
    expect(folderViolations(tree, TABLE)).toEqual([]);
  });

  it("imports only what the table allows, through the index of each folder", () => {
    expect(importViolations(tree, TABLE, PACKAGE)).toEqual([]);
  });

  it("has no cycles between files", () => {
    expect(fileCycles(tree)).toEqual([]);
  });

  it("reaches for no network, time or chance in its pure folders", () => {
    expect(purityViolations(tree, TABLE)).toEqual([]);
  });

  it("is exported folder by folder, each through its index", () => {
    const manifest = readProjectJson("package.json");
    expect(exportViolations(Reflect.get(Object(manifest), "exports"), tree, TABLE)).toEqual([]);
  });
});

describe("the reader of imports", () => {
  it.each([
    [`import { a } from "./a.js";`, "./a.js", "static"],
    [`import a, { type B } from "./a.js";`, "./a.js", "static"],
    [`import { type B } from "./a.js";`, "./a.js", "static"],
    [`import "./a.js";`, "./a.js", "static"],
    [`import type { A } from "./a.js";`, "./a.js", "type"],
    [`import type * as A from "./a.js";`, "./a.js", "type"],
    [`export { a } from "./a.js";`, "./a.js", "static"],
    [`export * from "./a.js";`, "./a.js", "static"],
    [`export * as a from "./a.js";`, "./a.js", "static"],
    [`export type { A } from "./a.js";`, "./a.js", "type"],
    [`export type * from "./a.js";`, "./a.js", "type"],
    [`export function f() { return import("./a.js"); }`, "./a.js", "dynamic"],
    [`export const load = (name: string) => import(name);`, undefined, "dynamic"],
    [`export type A = import("./a.js").A;`, "./a.js", "type"],
    [`export type A = typeof import("./a.js");`, "./a.js", "type"],
    [`import a = require("./a.js");`, "./a.js", "static"],
    [`const a = require("./a.js");`, "./a.js", "static"],
  ])("finds the import in %s", (text, specifier, kind) => {
    expect(readImports("x.ts", text)).toEqual([{ specifier, kind }]);
  });

  it("is not taken in by comments and strings", () => {
    const text = [
      `// import "./a.js";`,
      `/** {@link import("./b.js").B} */`,
      `export const s = 'import "./c.js"';`,
      "export const t = `import('./d.js')`;",
    ].join("\n");
    expect(readImports("x.ts", text)).toEqual([]);
  });
});

describe("the table", () => {
  const index = `export * from "./one.js";`;
  const readme = "# A folder\n";
  const sound: Readonly<Record<string, string>> = {
    "errors.ts": "export class RemoteConnectorError extends Error {}",
    "index.ts": `export * from "./errors.js";\nexport * from "./modern-client/index.js";`,
    "protocol/index.ts": index,
    "protocol/one.ts": `import { RemoteConnectorError } from "../errors.js";\nexport const one = RemoteConnectorError;`,
    "transport/index.ts": index,
    "transport/one.ts": `import { one } from "../protocol/index.js";\nimport { Pool } from "undici";\nexport { one, Pool };`,
    "transport/process/index.ts": index,
    "transport/process/one.ts": `import { one } from "../one.js";\nexport const two = one;`,
    "modern-client/index.ts": index,
    "modern-client/one.ts": `import { readFile } from "node:fs";\nexport const one = [readFile, () => import("../transport/process/index.js")];`,
    "legacy-client/index.ts": index,
    "legacy-client/one.ts": "export const one = 1;",
    "auth-projection/index.ts": index,
    "auth-projection/one.ts": "export const one = 1;",
    "reconcile/index.ts": index,
    "reconcile/one.ts": "export const one = 1;",
    "store/index.ts": index,
    "store/one.ts": `import type { one } from "../reconcile/index.js";\nexport type One = typeof one;`,
    "connector-host/index.ts": `${index}\nexport { type One } from "../store/index.js";`,
    "connector-host/one.ts": `export { one } from "../auth-projection/index.js";`,
  };

  function judge(changes: Readonly<Record<string, string>>): readonly string[] {
    const tree = new Map<string, string>();
    for (const [path, text] of Object.entries({ ...sound, ...changes })) {
      tree.set(path, text);
      if (path.endsWith("/index.ts")) tree.set(path.replace("index.ts", "README.md"), readme);
    }
    for (const [path, text] of Object.entries(changes)) tree.set(path, text);
    return [
      ...folderViolations(tree, TABLE),
      ...importViolations(tree, TABLE, PACKAGE),
      ...fileCycles(tree),
      ...purityViolations(tree, TABLE),
    ];
  }

  it("allows no circle of folders", () => {
    expect(tableCycles(TABLE)).toEqual([]);
    const circle = { a: { imports: ["b"], packages: [] }, b: { imports: [], typesOf: ["a"], packages: [] } };
    expect(tableCycles(circle)).toEqual(["a → b → a"]);
  });

  it("accepts a sound tree", () => {
    expect(judge({})).toEqual([]);
  });

  it.each([
    ["an unknown folder", { "billing/index.ts": "" }, "billing: the table has no row for it"],
    [
      "an unknown folder inside a known one",
      { "transport/deep/index.ts": "" },
      "transport/deep: the table has no row for it",
    ],
    ["an unknown file beside the folders", { "version.ts": "" }, "version: the table has no row for it"],
    ["a nameless folder", { "utils/index.ts": "" }, "utils: no folder is called utils"],
    ["a nameless folder inside a known one", { "store/lib/index.ts": "" }, "store/lib: no folder is called lib"],
    ["a folder without an index", { "oauth/one.ts": "", "oauth/README.md": readme }, "oauth: has no index.ts"],
    ["a long README", { "store/README.md": "line\n".repeat(16) }, "store: its README.md has 16 lines, more than 15"],
    [
      "a forbidden folder",
      { "modern-client/one.ts": `import { one } from "../legacy-client/index.js";` },
      "modern-client/one.ts: ../legacy-client/index.js: modern-client may not import legacy-client",
    ],
    [
      "a forbidden folder, by type",
      { "auth-projection/one.ts": `import type { one } from "../modern-client/index.js";` },
      "auth-projection/one.ts: ../modern-client/index.js: auth-projection may not import modern-client",
    ],
    [
      "a forbidden folder, by a type query",
      { "reconcile/one.ts": `export type One = import("../protocol/index.js").One;` },
      "reconcile/one.ts: ../protocol/index.js: reconcile may not import protocol",
    ],
    [
      "a forbidden folder, at run time",
      { "reconcile/one.ts": `export const one = () => import("../transport/index.js");` },
      "reconcile/one.ts: ../transport/index.js: reconcile may not import transport",
    ],
    [
      "a re-export of a forbidden folder",
      { "reconcile/index.ts": `export * from "../protocol/index.js";` },
      "reconcile/index.ts: ../protocol/index.js: reconcile may not import protocol",
    ],
    [
      "a way past an index",
      { "connector-host/one.ts": `import { one } from "../auth-projection/one.js";` },
      "connector-host/one.ts: ../auth-projection/one.js: reaches past the index of auth-projection",
    ],
    [
      "a way past the index of a nested surface",
      { "legacy-client/one.ts": `import { two } from "../transport/process/one.js";` },
      "legacy-client/one.ts: ../transport/process/one.js: reaches past the index of transport/process",
    ],
    [
      "a parent that always loads its nested surface",
      {
        "transport/one.ts": `export { two } from "./process/index.js";`,
        "transport/process/one.ts": "export const two = 2;",
      },
      "transport/one.ts: ./process/index.js: transport/process is loaded only when it is used",
    ],
    [
      "an owner's port imported as a value",
      { "store/one.ts": `import { one } from "../reconcile/index.js";` },
      "store/one.ts: ../reconcile/index.js: store may import only types of reconcile",
    ],
    [
      "an owner's port imported by inline types, which leave the statement in the output",
      { "store/one.ts": `import { type one } from "../reconcile/index.js";` },
      "store/one.ts: ../reconcile/index.js: store may import only types of reconcile",
    ],
    [
      "the store, outside a composition",
      { "connector-host/one.ts": `import type { One } from "../store/index.js";` },
      "connector-host/one.ts: ../store/index.js: only the index of connector-host may import store",
    ],
    [
      "the store, from a folder that composes nothing",
      { "auth-projection/one.ts": `import type { One } from "../store/index.js";` },
      "auth-projection/one.ts: ../store/index.js: auth-projection may not import store",
    ],
    [
      "a node: module in a pure folder",
      { "protocol/one.ts": `import { createHash } from "node:crypto";` },
      "protocol/one.ts: node:crypto: a pure folder imports no node: module",
    ],
    [
      "a Node module without its prefix",
      { "transport/one.ts": `import { readFile } from "fs/promises";` },
      "transport/one.ts: fs/promises: write node:fs/promises",
    ],
    [
      "another folder's package",
      { "modern-client/one.ts": `import { z } from "zod";` },
      "modern-client/one.ts: zod: the table does not give modern-client this package",
    ],
    [
      "a subpath of another folder's package",
      { "protocol/one.ts": `import type { A } from "@scope/name/deep";` },
      "protocol/one.ts: @scope/name/deep: the table does not give protocol this package",
    ],
    [
      "the package by its own name",
      { "store/one.ts": `import { a } from "remote-connector/protocol";` },
      "store/one.ts: remote-connector/protocol: files of this package import each other by path",
    ],
    [
      "a computed import",
      { "store/one.ts": "export const load = (name: string) => import(name);" },
      "store/one.ts: (computed): what it loads can't be read from the source",
    ],
    [
      "an import without .js",
      { "store/index.ts": `export * from "./one";` },
      "store/index.ts: ./one: there is no such source file",
    ],
    [
      "an import of a file that isn't there",
      { "store/index.ts": `export * from "./two.js";` },
      "store/index.ts: ./two.js: there is no such source file",
    ],
    [
      "a file that imports its own index",
      { "store/two.ts": `import type { One } from "./index.js";` },
      "store/two.ts: ./index.js: a folder's own index is for others",
    ],
    [
      "a cycle",
      { "store/one.ts": `export * from "./two.js";`, "store/two.ts": `export type * from "./one.js";` },
      "store/one.ts → store/two.ts → store/one.ts",
    ],
    ["a timer in a pure folder", { "protocol/one.ts": "setTimeout(() => {}, 1);" }, "protocol/one.ts: uses setTimeout"],
  ] as const)("refuses %s", (_what, changes, expected) => {
    expect(judge(changes)).toEqual([expected]);
  });

  it("refuses a folder without a README", () => {
    const tree = new Map(Object.entries({ "errors.ts": "", "oauth/index.ts": "" }));
    expect(folderViolations(tree, TABLE)).toEqual(["oauth: has no README.md"]);
  });

  it("accepts a nested surface that is loaded when it is used, and its types", () => {
    const loads = `export const load = () => import("./process/index.js");`;
    expect(judge({ "transport/two.ts": loads })).toEqual([]);
    expect(judge({ "transport/two.ts": `export type { two } from "./process/index.js";` })).toEqual([]);
  });
});

describe("the reader of ambient uses", () => {
  it.each([
    ["fetch(url)", "fetch"],
    ["const get = options.fetch ?? fetch", "fetch"],
    ["globalThis.fetch(url)", "globalThis"],
    ["setTimeout(run, 1)", "setTimeout"],
    ["f({ setTimeout })", "setTimeout"],
    ["const t = table[setTimeout]", "setTimeout"],
    ["Date.now()", "Date.now"],
    [`Date["now"]()`, "Date.now"],
    ["const now = Date.now", "Date.now"],
    ["new Date()", "new Date()"],
    ["Date()", "new Date()"],
    ["performance.now()", "performance"],
    ["Math.random()", "Math.random"],
    ["crypto.randomUUID()", "crypto"],
    ["AbortSignal.timeout(5)", "AbortSignal.timeout"],
    ["Buffer.from(bytes)", "Buffer"],
    ["const x = process.env as Env", "process"],
  ])("finds %s", (text, use) => {
    expect(readAmbientUses("x.ts", text)).toEqual([use]);
  });

  it.each([
    "port.fetch(url); clock.setTimeout(run)",
    "class Port { fetch() {} crypto = 1 }",
    "f({ fetch: given })",
    "Date.parse(text); new Date(0).getTime(); Math.max(1, 2)",
    "// setTimeout(run, 1)",
    "type F = typeof fetch; interface P { fetch(url: string): void }",
    `const s = "Date.now()"`,
  ])("leaves %s alone", (text) => {
    expect(readAmbientUses("x.ts", text)).toEqual([]);
  });
});

describe("the reader of exports", () => {
  const tree = new Map(
    Object.entries({ "errors.ts": "", "index.ts": "", "protocol/index.ts": "", "serving/index.ts": "" }),
  );
  const sound = {
    ".": at("index"),
    "./errors": at("errors"),
    "./protocol": at("protocol/index"),
    "./package.json": "./package.json",
  };

  it("accepts one subpath for each public folder", () => {
    expect(exportViolations(sound, tree, TABLE)).toEqual([]);
  });

  it.each([
    ["a file that is no index", { "./protocol": at("protocol/json-rpc") }, ["./protocol: is not"]],
    ["a folder that isn't there", { "./oauth": at("oauth/index") }, ["./oauth: has no index in src"]],
    ["an internal folder", { "./serving": at("serving/index") }, ["./serving: serving is not public"]],
    ["types behind the default", { ".": { default: "./dist/index.js", types: "./dist/index.d.ts" } }, [".: is not"]],
    ["a missing subpath", { "./errors": undefined }, ["./errors: is not"]],
  ])("refuses %s", (_what, changes, expected) => {
    const found = exportViolations({ ...sound, ...changes }, tree, TABLE);
    expect(found.map((each, i) => each.slice(0, expected[i]?.length))).toEqual(expected);
  });

  it("refuses a public folder without a subpath", () => {
    const { "./errors": _left, ...rest } = sound;
    expect(exportViolations(rest, tree, TABLE)).toEqual(["./errors: package.json has no such subpath"]);
  });
});
