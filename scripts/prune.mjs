/** Removes what an earlier build left in `dist` and no source file stands behind, so that it can't be packed. */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

for (const entry of readdirSync("dist", { recursive: true, withFileTypes: true })) {
  const built = join(entry.parentPath, entry.name);
  const source = built.replace(/^dist/, "src").replace(/(?:\.d)?\.[jt]s$/, ".ts");
  if (entry.isFile() && !existsSync(source)) rmSync(built, { force: true });
}
