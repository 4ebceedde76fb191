import { type EntryRules, isText } from "./entry-check.js";
import { isJsonObject, type JsonObject } from "./json-rpc.js";
import type { Prompt, Resource, ResourceTemplate } from "./results.js";

type Check = (value: unknown) => boolean;

/** Members that resources, templates and prompts can all do without. */
const DESCRIBED: readonly (readonly [string, Check])[] = [
  ["title", isText],
  ["description", isText],
  ["icons", Array.isArray],
  ["_meta", isJsonObject],
];

/** Entries of `resources/list`. */
export const RESOURCE_RULES: EntryRules<Resource> = {
  noun: "resource",
  key: "uri",
  optional: new Map<string, Check>([
    ...DESCRIBED,
    ["name", isText],
    ["mimeType", isText],
    ["size", (value) => typeof value === "number"],
    ["annotations", isJsonObject],
  ]),
  isUsable: (entry): entry is JsonObject & Resource => isText(entry["uri"]),
  lacking: "a uri",
};

/** Entries of `resources/templates/list`. */
export const TEMPLATE_RULES: EntryRules<ResourceTemplate> = {
  noun: "resource template",
  key: "uriTemplate",
  optional: new Map<string, Check>([
    ...DESCRIBED,
    ["name", isText],
    ["mimeType", isText],
    ["annotations", isJsonObject],
  ]),
  isUsable: (entry): entry is JsonObject & ResourceTemplate => isText(entry["uriTemplate"]),
  lacking: "a uriTemplate",
};

/** Entries of `prompts/list`. */
export const PROMPT_RULES: EntryRules<Prompt> = {
  noun: "prompt",
  key: "name",
  optional: new Map<string, Check>([...DESCRIBED, ["arguments", Array.isArray]]),
  isUsable: (entry): entry is JsonObject & Prompt => isText(entry["name"]),
  lacking: "a name",
};
