import { type JsonObject, memberRange } from "../../protocol/index.js";
import { changeMembers } from "../../serving/index.js";
import type { ExposedTool } from "./ports.js";

/** The member of a list's result that holds its entries. */
export type ListMember = "tools" | "prompts" | "resources" | "resourceTemplates";

/**
 * The JSON text of a modern list's result: one page, stale at once, for this agent alone. `definitions` are JSON texts;
 * `meta` is its `_meta`. Source: 2026-07-28, Tools, Listing Tools; Caching.
 */
export function modernList(member: ListMember, definitions: readonly string[], meta: JsonObject): string {
  const head = `{"resultType":"complete","${member}":[${definitions.join(",")}],"ttlMs":0,"cacheScope":"private"`;
  return `${head},"_meta":${JSON.stringify(meta)}}`;
}

/** The JSON text of a legacy list's result. `meta` is left out when it is empty. Source: 2025-11-25, Tools. */
export function legacyList(member: ListMember, definitions: readonly string[], meta: JsonObject): string {
  const tail = Object.keys(meta).length === 0 ? "" : `,"_meta":${JSON.stringify(meta)}`;
  return `{"${member}":[${definitions.join(",")}]${tail}}`;
}

/** The definitions of tools as legacy revisions can express them. */
export function legacyTools(exposed: readonly ExposedTool[]): readonly string[] {
  return exposed.map(legacyDefinition);
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
