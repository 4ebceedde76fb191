import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { readProjectJson, readSourceTree, ROOT } from "../architecture/source-tree.js";
import {
  createTemporaryFolder,
  installTarball,
  packTarball,
  type PackedProject,
  type Tarball,
} from "./packed-project.js";
import { readExportedNames } from "./source-exports.js";

/** The packages that importing a subpath may load. A subpath that is not here fails. */
const LOADS: Readonly<Record<string, readonly string[]>> = {
  ".": ["eventsource-parser", "undici"],
  "./errors": [],
  "./protocol": ["eventsource-parser"],
  "./protocol/json-schema": [],
  "./transport": ["eventsource-parser", "undici"],
  "./modern-client": ["eventsource-parser", "undici"],
  "./legacy-client": ["eventsource-parser", "undici"],
  "./connect": ["eventsource-parser", "undici"],
  "./auth-projection": ["eventsource-parser", "undici", "ws", "zod"],
  "./reconcile": [],
  "./oauth": ["eventsource-parser", "undici", "zod"],
  "./store": ["libsql"],
  "./connector-host": ["eventsource-parser", "libsql", "picomatch", "semver", "undici", "ws", "zod"],
  "./gateway": ["eventsource-parser", "libsql", "undici", "ws", "zod"],
  "./testing": ["eventsource-parser"],
};

/** Scripts that npm runs on the machine of someone who installs a package. */
const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare"];

const manifestShape = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.unknown()),
  dependencies: z.record(z.string(), z.string()),
  scripts: z.record(z.string(), z.string()),
});

const lockShape = z.object({
  packages: z.record(z.string(), z.object({ dev: z.boolean().optional(), hasInstallScript: z.boolean().optional() })),
});

const manifest = manifestShape.parse(readProjectJson("package.json"));
const subpaths = Object.keys(manifest.exports).filter((subpath) => subpath !== "./package.json");
const tree = readSourceTree();

/** The name by which a consumer imports a subpath. */
function specifierOf(subpath: string): string {
  return manifest.name + subpath.slice(1);
}

/** What a subpath's module in `src` exports. */
function exportedNames(subpath: string): ReturnType<typeof readExportedNames> {
  return readExportedNames(moduleOf(subpath), tree);
}

function moduleOf(subpath: string): string {
  const name = subpath === "." ? "index" : subpath.slice(2);
  const module = [`${name}.ts`, `${name}/index.ts`].find((path) => tree.has(path));
  if (module === undefined) throw new Error(`src has no index for ${subpath}`);
  return module;
}

describe("the packed tarball", () => {
  let temporary: Awaited<ReturnType<typeof createTemporaryFolder>>;
  let tarball: Tarball;
  let complete: PackedProject;

  beforeAll(async () => {
    temporary = await createTemporaryFolder();
    tarball = await packTarball(temporary.path);
    complete = await installTarball(tarball, "complete", [...Object.keys(manifest.dependencies), "@types/node"]);
  });

  afterAll(() => temporary.remove());

  it("holds what is built, the documents, and nothing else", () => {
    const foreign = tarball.files.filter(
      (path) =>
        !/^(?:LICENSE|README\.md|CHANGELOG\.md|package\.json|docs\/.+\.md|dist\/.+(?:\.js|\.d\.ts))$/.test(path),
    );
    expect(foreign).toEqual([]);
    const missing = ["LICENSE", "README.md", "package.json"].filter((path) => !tarball.files.includes(path));
    expect(missing).toEqual([]);
  });

  it("holds the types of each module of src, and none of one that is gone", () => {
    const built = tarball.files.filter((path) => path.endsWith(".d.ts"));
    // Declarations of what others wrote are built into nothing.
    const sources = [...tree.keys()].filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"));
    expect(built).toEqual(sources.map((path) => `dist/${path.replace(/\.ts$/, ".d.ts")}`).toSorted());
  });

  it("holds a file for each subpath, and beside them only what they share, in few files", () => {
    const built = tarball.files.filter((path) => path.endsWith(".js"));
    const entries = subpaths.map((subpath) => `dist/${moduleOf(subpath).replace(/\.ts$/, ".js")}`);
    const shared = built.filter((path) => !entries.includes(path));
    expect(built).toEqual(expect.arrayContaining(entries));
    expect(shared.filter((path) => !path.startsWith("dist/chunks/"))).toEqual([]);
    expect(shared.length).toBeLessThan(40);
  });

  it("F-5 holds each module once, however it is reached", async () => {
    const code = `const errors = await import("${specifierOf("./errors")}");
      const modules = await Promise.all(${JSON.stringify(subpaths.map(specifierOf))}.map((name) => import(name)));
      const found = modules.map((module) => module.RemoteConnectorError).filter((found) => found !== undefined);
      console.log(found.length, found.every((one) => one === errors.RemoteConnectorError));`;
    expect(await complete.run(code)).toBe("2 true\n");
  });

  it("runs no script when it is installed, nor does anything that it depends on", () => {
    const packed = manifestShape.parse(JSON.parse(readFileSync(join(complete.installed, "package.json"), "utf8")));
    expect(Object.keys(packed.scripts).filter((name) => INSTALL_SCRIPTS.includes(name))).toEqual([]);
    expect(existsSync(join(complete.installed, "binding.gyp"))).toBe(false);
    const lock = lockShape.parse(readProjectJson("package-lock.json"));
    const running = Object.entries(lock.packages).filter(
      ([, each]) => each.dev !== true && each.hasInstallScript === true,
    );
    expect(running.map(([path]) => path)).toEqual([]);
  });

  it.each(subpaths)("exports from %s at run time all that its index in src does", async (subpath) => {
    const code = `import * as module from "${specifierOf(subpath)}";
      console.log(JSON.stringify(Object.keys(module).filter((name) => module[name] !== undefined).sort()));`;
    const { values } = exportedNames(subpath);
    expect(values.length).toBeGreaterThan(0);
    expect(JSON.parse(await complete.run(code))).toEqual(values);
  });

  it("declares for a strict consumer the types of all that it exports", async () => {
    for (const [i, subpath] of subpaths.entries()) {
      const { values, types } = exportedNames(subpath);
      const names = [...values, ...types.map((name) => `type ${name}`)];
      await writeFile(
        join(complete.folder, `use-${i}.ts`),
        `export { ${names.join(", ")} } from "${specifierOf(subpath)}";\n`,
      );
    }
    const compilerOptions = {
      target: "es2023",
      lib: ["es2023"],
      module: "nodenext",
      types: ["node"],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      // Declarations that lean on a package the consumer doesn't have are errors only then.
      skipLibCheck: false,
    };
    await writeFile(join(complete.folder, "package.json"), JSON.stringify({ type: "module" }));
    await writeFile(join(complete.folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const compiled = promisify(execFile)(process.execPath, [tsc, "-p", complete.folder]);
    await expect(compiled.catch((error: unknown) => Reflect.get(Object(error), "stdout"))).resolves.toMatchObject({
      stdout: "",
    });
  });

  it.each(subpaths)("loads for %s no package but those it is meant to", async (subpath) => {
    const allowed = LOADS[subpath];
    expect(allowed, `LOADS has no row for ${subpath}`).toBeDefined();
    const project = await installTarball(tarball, `only-${subpath.replaceAll(/\W/g, "_")}`, allowed ?? []);
    expect(await project.run(`await import("${specifierOf(subpath)}")`).catch(String)).toBe("");
  });

  it("would not load with a package missing", async () => {
    const project = await installTarball(tarball, "nothing", []);
    const loading = project.run(`await import("${specifierOf("./transport")}")`);
    await expect(loading).rejects.toThrow("ERR_MODULE_NOT_FOUND");
  });
});
