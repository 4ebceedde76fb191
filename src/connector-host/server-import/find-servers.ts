import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import type { DeclaredInput, Entry } from "./entry-values.js";
import type { ImportReport, Place } from "./import-report.js";
import type { Dialect } from "./read-placeholders.js";

const MAX_SERVERS = 256;
const MAX_INPUTS = 256;
const DIALECTS: readonly Dialect[] = ["mcpServers", "servers"];

/** An entry of the file, by name. */
export interface FoundServer extends Omit<Entry, "slug" | "report"> {
  readonly name: string;
  readonly value: unknown;
}

/** All entries of a file, in its order (whole numbers first, as in objects). None when the report says what is wrong with the file. */
export function findServers(file: unknown, report: ImportReport): readonly FoundServer[] {
  if (report.refusalCount > 0) return [];
  if (!isJsonObject(file)) {
    report.refuse([], "must be an object");
    return [];
  }
  const found = [...serversIn(file, [], report), ...serversIn(file["mcp"], ["mcp"], report)];
  if (!holdsServers(file) && !holdsServers(file["mcp"])) report.refuse([], "holds neither mcpServers nor servers");
  if (found.length <= MAX_SERVERS) return found;
  report.refuse([], `holds more than ${String(MAX_SERVERS)} servers`);
  return [];
}

function serversIn(holder: unknown, place: Place, report: ImportReport): readonly FoundServer[] {
  if (!holdsServers(holder)) return [];
  const inputs = readInputs(holder["inputs"], [...place, "inputs"], report);
  return DIALECTS.filter((dialect) => dialect in holder).flatMap((dialect) => {
    const servers = holder[dialect];
    if (!isJsonObject(servers)) {
      report.refuse([...place, dialect], "must be an object");
      return [];
    }
    return Object.entries(servers).map(([name, value]) => {
      return { name, value, place: [...place, dialect, name], dialect, inputs };
    });
  });
}

function holdsServers(value: unknown): value is JsonObject {
  return isJsonObject(value) && DIALECTS.some((dialect) => dialect in value);
}

function readInputs(value: unknown, place: Place, report: ImportReport): ReadonlyMap<string, DeclaredInput> {
  const inputs = new Map<string, DeclaredInput>();
  if (value === undefined) return inputs;
  if (!Array.isArray(value) || value.length > MAX_INPUTS) {
    report.refuse(place, `must be an array of at most ${String(MAX_INPUTS)} inputs`);
    return inputs;
  }
  const all: readonly unknown[] = value;
  for (const [index, input] of all.entries()) {
    const id = isJsonObject(input) ? input["id"] : undefined;
    if (!isJsonObject(input) || typeof id !== "string") report.refuse([...place, index], "must be an input with an id");
    else if (inputs.has(id)) report.refuse([...place, index], "has the id of another input");
    else {
      const { description } = input;
      inputs.set(id, typeof description === "string" ? { id, description } : { id });
    }
  }
  return inputs;
}
