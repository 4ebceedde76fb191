import { memberRange, scanArray } from "./raw-json.js";
import type { Tool } from "./results.js";

/**
 * The text of each tool's definition as its server wrote it, by name, so that a list can be passed on without losing
 * digits, unknown members or their order.
 *
 * `message` is the whole response that `entries` were parsed from, and `tools` what the check of them kept. A definition
 * that the check had to mend is written anew;
 * one that can't be, because it is too deep, has none.
 */
export function toolDefinitions(
  message: Uint8Array,
  entries: readonly unknown[],
  tools: readonly Tool[],
): Map<string, Uint8Array> {
  const list = memberRange(message, ["result", "tools"]);
  const ranges = list === undefined ? [] : (scanArray(message, list.start) ?? []);
  const places = new Map(entries.map((entry, index) => [entry, ranges[index]]));
  const definitions = new Map<string, Uint8Array>();
  for (const tool of tools) {
    const place = places.get(tool);
    // Copied: a view would keep its whole page in memory.
    const untouched = place === undefined ? undefined : message.slice(place.start, place.end);
    const text = untouched ?? writtenAnew(tool);
    if (text !== undefined) definitions.set(tool.name, text);
  }
  return definitions;
}

function writtenAnew(tool: Tool): Uint8Array | undefined {
  try {
    return new TextEncoder().encode(JSON.stringify(tool));
  } catch {
    return undefined;
  }
}
