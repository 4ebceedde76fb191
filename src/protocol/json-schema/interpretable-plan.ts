import type { Schema } from "@cfworker/json-schema";
import { isJsonObject } from "../json-rpc.js";
import type { PlanNode, SchemaPlan } from "./schema-plan.js";
import { unsupportedDialect } from "./verdict.js";

/** The name under which the interpreter finds the rule of a string. */
export function textFormat(rule: number): string {
  return `remote-connector/text/${String(rule)}`;
}

/**
 * The entries of a plan as the interpreter reads them, by the reference that leads to each. With `compareItems` false
 * nothing is said of equal items, for values in which no list has any.
 *
 * Throws a refusal (`unsupported_dialect`) for a pattern on names that the interpreter's own engine might not match in
 * linear time.
 */
export function toInterpretable(plan: SchemaPlan, compareItems: boolean): readonly (Schema | boolean)[] {
  // The whole is looked at first, so that nothing was handed down to it.
  return plan.entries.map(({ node }, number) => (number === 0 ? convertOpen(node) : convert(node)));

  function convert(node: PlanNode): Schema | boolean {
    const out = convertOpen(node);
    return typeof out === "boolean" ? out : isolate(out);
  }

  function convertOpen(node: PlanNode): Schema | boolean {
    if (typeof node === "boolean") return node;
    const out: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(node)) Object.assign(out, convertKeyword(keyword, value));
    return out;
  }

  function convertKeyword(keyword: string, value: unknown): Record<string, unknown> {
    switch (keyword) {
      case "text":
        return { format: textFormat(Number(value)) };
      case "among":
        return { enum: quiet(plan.choices[Number(value)] ?? []) };
      case "enum":
        return { enum: quiet(Array.isArray(value) ? value : []) };
      case "distinct":
        return compareItems ? { uniqueItems: true } : {};
      case "allOf":
      case "anyOf":
      case "oneOf":
      case "prefixItems":
        return { [keyword]: Array.isArray(value) ? value.map(convertAny) : [] };
      case "patternProperties":
        for (const pattern of Object.keys(Object(value))) assertPlainPattern(pattern);
        return { [keyword]: convertMap(value) };
      case "properties":
      case "dependentSchemas":
        return { [keyword]: convertMap(value) };
      case "additionalProperties":
      case "contains":
      case "else":
      case "if":
      case "items":
      case "not":
      case "propertyNames":
      case "then":
      case "unevaluatedItems":
      case "unevaluatedProperties":
        return { [keyword]: convertAny(value) };
      default:
        return { [keyword]: value };
    }
  }

  function convertAny(value: unknown): Schema | boolean {
    return isJsonObject(value) ? convert(value) : value !== false;
  }

  function convertMap(value: unknown): Record<string, Schema | boolean> {
    return Object.fromEntries(Object.entries(Object(value)).map(([name, each]) => [name, convertAny(each)]));
  }
}

/**
 * What a schema looked at is handed down by the interpreter to the schemas inside it, where those must begin anew; but
 * not through a negation. Afterwards everything has been looked at, which is said beside it.
 */
function isolate(node: Schema): Schema {
  const members = node["unevaluatedProperties"] !== undefined;
  const items = node["unevaluatedItems"] !== undefined;
  if (!members && !items) return node;
  const marks = { ...(members ? { additionalProperties: true } : {}), ...(items ? { items: true } : {}) };
  return { not: { not: node }, ...marks };
}

/** The interpreter writes all choices into its message, and would for every item of a list. */
function quiet(choices: readonly unknown[]): readonly unknown[] {
  return Object.defineProperty([...choices], "toJSON", { value: () => "one of the allowed values" });
}

/** A character, an escape, or a class: none of them can be ambiguous. */
const ATOM = String.raw`(?:[^\\^$.*+?()[\]{}|]|\\[dDwWsS^$.*+?()[\]{}|/\\]|\.|\[\^?(?:[^\\[\]]|\\[dDwWsS^$.*+?()[\]{}|/\\-])+\])`;
const TIMES = String.raw`(?:\{\d{1,3}\})?`;
const ONCE_REPEATED = String.raw`(?:${ATOM}(?:[*+?]|\{\d{1,3},\d{0,3}\}))?`;
/** With one repetition and an anchor, or with none, there is no second way to match that a machine could try. */
const PLAIN_PATTERNS: readonly RegExp[] = [
  new RegExp(String.raw`^\^?(?:${ATOM}${TIMES})*\$?$`, "u"),
  new RegExp(String.raw`^\^(?:${ATOM}${TIMES})*${ONCE_REPEATED}(?:${ATOM}${TIMES})*\$?$`, "u"),
  /^\^?\.\*\$?$/,
];

function assertPlainPattern(pattern: string): void {
  // Of a long pattern the test itself would take long.
  if (pattern.length <= 200 && PLAIN_PATTERNS.some((plain) => plain.test(pattern))) return;
  throw unsupportedDialect("", "a pattern on member names that is more than the interpreter matches in linear time");
}
