import { isJsonObject, type JsonObject } from "../../protocol/index.js";

/**
 * The URIs of resources that a result shows: links to them, and those that are embedded, in the content of a tool's result, the
 * messages of a prompt, or the contents of a resource. Pure and total.
 *
 * Source: 2026-07-28, Tools, Tool Result; Prompts, Data Types; Resources, Resource Contents.
 */
export function* seenResources(result: JsonObject): Generator<string, void, undefined> {
  for (const block of listIn(result["content"])) yield* uriOf(block);
  for (const message of listIn(result["messages"])) {
    const content = isJsonObject(message) ? message["content"] : undefined;
    for (const block of Array.isArray(content) ? content : [content]) yield* uriOf(block);
  }
  for (const part of listIn(result["contents"])) yield* textIn(part, "uri");
}

function* uriOf(block: unknown): Generator<string, void, undefined> {
  if (!isJsonObject(block)) return;
  if (block["type"] === "resource_link") yield* textIn(block, "uri");
  else if (block["type"] === "resource") yield* textIn(block["resource"], "uri");
}

function* textIn(value: unknown, member: string): Generator<string, void, undefined> {
  const text = isJsonObject(value) ? value[member] : undefined;
  if (typeof text === "string") yield text;
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
