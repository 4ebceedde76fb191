import { isJsonObject } from "../json-rpc.js";

/**
 * A text that two JSON values share exactly when JSON Schema calls them equal: members in order of their names, `-0` as
 * `0`. Throws a `RangeError` for a value nested too deep for the stack.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value === 0 ? 0 : value) ?? "undefined";
  const names = Object.keys(value).toSorted();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`).join(",")}}`;
}
