/**
 * Builds the code of `dist` out of `src`: a file for each subpath of package.json, and in `dist/chunks` what several of them
 * share, so that each module exists once however it is reached. What is imported on use stays a chunk of its own. Types are
 * `tsc`'s, a file for each of `src`. See docs/decisions/0010-few-files.md.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const input = {};
for (const target of Object.values(manifest.exports)) {
  if (typeof target !== "object") continue;
  const name = target.default.replace(/^\.\/dist\/|\.js$/g, "");
  input[name] = `src/${name}.ts`;
}

const bundle = await rolldown({
  input,
  platform: "node",
  // Packages stay what they are: only what is ours is joined.
  external: /^[^./]/,
  // Nothing of ours runs when it is imported, so that there is nothing to shake off, and nothing to be wrong about.
  treeshake: false,
});
const { output } = await bundle.write({
  dir: "dist",
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name].js",
  comments: false,
});

// What an earlier build left must not be packed.
const written = new Set(output.map(({ fileName }) => join("dist", fileName)));
for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  const source = path.replace(/^dist/, "src").replace(/\.d\.ts$/, ".ts");
  const isStale = path.endsWith(".d.ts") ? !exists(source) : !written.has(path);
  if (entry.isFile() && isStale) rmSync(path, { force: true });
}

function exists(path) {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
}
