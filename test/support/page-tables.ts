import { readFileSync } from "node:fs";

/** A table of a page: the head, then its rows. */
type PageTable = readonly (readonly string[])[];

/** The tables of a page by the heading that they follow, as cells without the spaces and the code marks. */
export function readPageTables(path: string): ReadonlyMap<string, PageTable> {
  const found = new Map<string, string[][]>();
  let heading = "";
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line.startsWith("#")) heading = line.replace(/^#+ /, "");
    if (!line.startsWith("|") || /^\|[ -]*\|[-| ]*$/.test(line)) continue;
    const cells = line.split("|").slice(1, -1);
    const table = found.get(heading) ?? [];
    found.set(heading, table);
    table.push(cells.map((cell) => cell.replaceAll("`", "").trim()));
  }
  return found;
}
