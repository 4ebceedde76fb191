import { isJsonObject, type JsonObject } from "./json-rpc.js";

/**
 * The keywords of 2020-12 and draft-07 that hold schemas: `one` is a schema or a list of them, `named` a map whose keys are
 * names. Everything else in a schema is data.
 */
export const SCHEMA_KEYWORDS: ReadonlyMap<string, "one" | "named"> = new Map([
  ["properties", "named"],
  ["additionalItems", "one"],
  ["additionalProperties", "one"],
  ["allOf", "one"],
  ["anyOf", "one"],
  ["contains", "one"],
  ["contentSchema", "one"],
  ["else", "one"],
  ["if", "one"],
  ["items", "one"],
  ["not", "one"],
  ["oneOf", "one"],
  ["prefixItems", "one"],
  ["propertyNames", "one"],
  ["then", "one"],
  ["unevaluatedItems", "one"],
  ["unevaluatedProperties", "one"],
  ["$defs", "named"],
  ["definitions", "named"],
  ["dependencies", "named"],
  ["dependentSchemas", "named"],
  ["patternProperties", "named"],
]);

/** Deeper schemas are not looked at: no stack is spent on what nobody writes. */
const MAX_SCAN_DEPTH = 64;

/**
 * Whether a schema, or one inside it, may have the member `keyword`. Quick, and allocates nothing, since nearly all have not: `true`
 * only means that it is worth a reading, and is also the answer for what is nested too deep. Pure and total.
 */
export function mayHold(schema: JsonObject, keyword: string, depth = 0): boolean {
  if (depth > MAX_SCAN_DEPTH) return true;
  // Inherited members can only make it look closer.
  for (const member in schema) {
    if (member === keyword) return true;
    const value = schema[member];
    if (typeof value !== "object" || value === null) continue;
    const holds = SCHEMA_KEYWORDS.get(member);
    if (holds !== undefined && anyMayHold(value, holds, keyword, depth + 1)) return true;
  }
  return false;
}

function anyMayHold(value: object, holds: "one" | "named", keyword: string, depth: number): boolean {
  if (holds === "named") return isJsonObject(value) && valuesMayHold(value, keyword, depth);
  if (!Array.isArray(value)) return isJsonObject(value) && mayHold(value, keyword, depth);
  return value.some((each: unknown) => isJsonObject(each) && mayHold(each, keyword, depth));
}

function valuesMayHold(map: JsonObject, keyword: string, depth: number): boolean {
  for (const name in map) {
    const value = map[name];
    if (isJsonObject(value) && mayHold(value, keyword, depth)) return true;
  }
  return false;
}
