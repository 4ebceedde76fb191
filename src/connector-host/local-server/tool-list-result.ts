import { type JsonObject, memberRange } from "../../protocol/index.js";
import { changeMembers } from "../../serving/index.js";
import type { ExposedTool } from "./ports.js";

/**
 * The JSON text of a modern `tools/list` result: one page, stale at once, for this agent alone. `meta` is its `_meta`.
 * Source: 2026-07-28, Tools, Listing Tools; Caching.
 */
export function modernToolList(exposed: readonly ExposedTool[], meta: JsonObject): string {
  const tools = exposed.map((tool) => tool.definition).join(",");
  const head = `{"resultType":"complete","tools":[${tools}],"ttlMs":0,"cacheScope":"private"`;
  return `${head},"_meta":${JSON.stringify(meta)}}`;
}

/** The JSON text of a legacy `tools/list` result. `meta` is left out when it is empty. Source: 2025-11-25, Tools. */
export function legacyToolList(exposed: readonly ExposedTool[], meta: JsonObject): string {
  const tools = exposed.map(legacyDefinition).join(",");
  const tail = Object.keys(meta).length === 0 ? "" : `,"_meta":${JSON.stringify(meta)}`;
  return `{"tools":[${tools}]${tail}}`;
}

/**
 * A definition without an output schema that legacy revisions can't express: there its root has the type `object`, and
 * clients that check the list refuse all of it for one tool that has another. Source: 2025-11-25, Tools, Output Schema.
 */
function legacyDefinition({ definition }: ExposedTool): string {
  // Most tools are told apart by this search, which costs little beside looking at every member. Names can be escaped.
  if (!definition.includes("outputSchema") && !definition.includes("\\u")) return definition;
  const bytes = Buffer.from(definition, "utf8");
  if (memberRange(bytes, ["outputSchema"]) === undefined) return definition;
  const type = memberRange(bytes, ["outputSchema", "type"]);
  if (type !== undefined && bytes.toString("utf8", type.start, type.end) === '"object"') return definition;
  return Buffer.from(changeMembers(bytes, { outputSchema: undefined })).toString("utf8");
}
