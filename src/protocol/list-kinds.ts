import { invalidAnswer } from "./answer-errors.js";
import type { Diagnostic } from "./diagnostic.js";
import { EntryCheck, type EntryRules } from "./entry-check.js";
import { PROMPT_RULES, RESOURCE_RULES, TEMPLATE_RULES } from "./entry-rules.js";
import type { JsonObject } from "./json-rpc.js";
import type { Prompt, Resource, ResourceTemplate } from "./results.js";

/** A list that servers have: how it is asked for, where its entries are, and what they must be. */
export interface ListKind<Entry> {
  readonly method: string;
  readonly member: string;
  readonly rules: EntryRules<Entry>;
}

export const RESOURCES: ListKind<Resource> = {
  method: "resources/list",
  member: "resources",
  rules: RESOURCE_RULES,
};

export const TEMPLATES: ListKind<ResourceTemplate> = {
  method: "resources/templates/list",
  member: "resourceTemplates",
  rules: TEMPLATE_RULES,
};

export const PROMPTS: ListKind<Prompt> = { method: "prompts/list", member: "prompts", rules: PROMPT_RULES };

/** The entries of a page as they came. Throws `invalid_answer` (`unknown`) for a result that is no such page. */
export function entriesIn({ method, member }: ListKind<unknown>, result: JsonObject): readonly unknown[] {
  const entries = result[member];
  if (Array.isArray(entries)) return entries;
  throw invalidAnswer(`${method} without a list of ${member}`);
}

/** A page of its own, checked: the rest of the result is as it came. Throws as {@link entriesIn}. */
export function checkListPage<Entry>(
  kind: ListKind<Entry>,
  result: JsonObject,
): { readonly result: JsonObject; readonly diagnostics: readonly Diagnostic[] } {
  const check = new EntryCheck(kind.rules);
  const { entries } = check.page(entriesIn(kind, result));
  return { result: { ...result, [kind.member]: entries }, diagnostics: check.diagnostics };
}
