import { canonicalJson } from "./canonical-json.js";
import type { LinearPattern } from "./linear-pattern.js";
import type { SchemaPlan, TextRule } from "./schema-plan.js";
import type { StepMeter } from "./step-meter.js";

/** The checks of a plan that no validator of others does in bounded time. Each charges its work. */
export interface PlanChecks {
  /** Whether a string keeps the rule with this number. */
  readonly acceptsText: (rule: number, text: string) => boolean;
  /** Whether a value is among the choices with this number. */
  readonly isAmong: (choice: number, value: unknown) => boolean;
  /** Whether no two items are equal. */
  readonly areDistinct: (items: readonly unknown[]) => boolean;
  /** A pattern of `patternProperties`. */
  readonly namePattern: (pattern: string) => { test(name: string): boolean };
}

/** Matching one character may take as much as one of these per instruction of the pattern. */
const INSTRUCTIONS_PER_STEP = 256;
const CHARACTERS_PER_STEP = 64;

export function createPlanChecks(
  plan: SchemaPlan,
  patterns: ReadonlyMap<string, LinearPattern>,
  meter: StepMeter,
): PlanChecks {
  const matches = (pattern: string, text: string): boolean => {
    const compiled = patterns.get(pattern);
    if (compiled === undefined) return false;
    meter.charge(1 + Math.ceil((text.length * compiled.instructions) / INSTRUCTIONS_PER_STEP));
    return compiled.test(text);
  };
  const canonical = (value: unknown): string => {
    const text = canonicalJson(value);
    meter.charge(1 + Math.ceil(text.length / CHARACTERS_PER_STEP));
    return text;
  };
  const choices = plan.choices.map((values) => new Set(values.map(canonicalJson)));
  return {
    acceptsText: (number, text) => {
      const rule = plan.texts[number];
      if (rule === undefined || !hasLength(rule, text, meter)) return false;
      return rule.pattern === undefined || matches(rule.pattern, text);
    },
    isAmong: (choice, value) => choices[choice]?.has(canonical(value)) === true,
    areDistinct: (items) => {
      const seen = new Set<string>();
      for (const item of items) seen.add(canonical(item));
      return seen.size === items.length;
    },
    // Engines tell patterns apart by their text.
    namePattern: (pattern) => ({ test: (name) => matches(pattern, name), toString: () => pattern }),
  };
}

/** Lengths are counted in characters, and only when the number of UTF-16 units does not decide already. */
function hasLength({ minLength, maxLength }: TextRule, text: string, meter: StepMeter): boolean {
  const units = text.length;
  const least = minLength ?? 0;
  const most = maxLength ?? Infinity;
  if (units < least || units > most * 2) return false;
  if (units >= least * 2 && units <= most) return true;
  meter.charge(1 + Math.ceil(units / CHARACTERS_PER_STEP));
  let characters = 0;
  for (let at = 0; at < units; at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) characters += 1;
  return characters >= least && characters <= most;
}
