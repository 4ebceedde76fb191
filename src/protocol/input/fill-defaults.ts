import { isJsonObject, type JsonObject } from "../json-rpc.js";

/**
 * The content of a form with the defaults of its schema for the members that it leaves out; `undefined` leaves out too. Pure:
 * the content is not changed. Source: 2026-07-28, Elicitation, Requested Schema.
 */
export function fillDefaults(schema: JsonObject, content: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return content;
  const missing: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const isGiven = Object.hasOwn(content, name) && content[name] !== undefined;
    if (isGiven || !isJsonObject(property) || property["default"] === undefined) continue;
    missing.push([name, property["default"]]);
  }
  // Not by assignment: a member named __proto__ is a member like others.
  return missing.length === 0 ? content : Object.fromEntries([...Object.entries(content), ...missing]);
}
