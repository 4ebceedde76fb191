import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** The version of a package of the official project, as installed. */
export function versionOf(name: string): string {
  const manifest: unknown = JSON.parse(readFileSync(manifestOf(name), "utf8"));
  return String(Reflect.get(Object(manifest), "version"));
}

/** The program of a published server. */
export function programOf(name: string): string {
  return join(dirname(manifestOf(name)), "dist", "index.js");
}

/** Not every package lets its `package.json` be resolved. */
function manifestOf(name: string): string {
  const require = createRequire(import.meta.url);
  const places = require.resolve.paths("@modelcontextprotocol") ?? [];
  const found = places
    .map((folder) => join(folder, "@modelcontextprotocol", name, "package.json"))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error(`@modelcontextprotocol/${name} is not installed`);
  return found;
}
