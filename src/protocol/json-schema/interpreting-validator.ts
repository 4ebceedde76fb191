import type { format as Formats, OutputUnit, Schema, validate as Interpret } from "@cfworker/json-schema";
import { isJsonObject } from "../json-rpc.js";
import { textFormat, toInterpretable } from "./interpretable-plan.js";
import { createPatternCompiler } from "./linear-pattern.js";
import { type CompiledSchema, createSchemaValidator, type EngineInput, type SchemaEngine } from "./schema-validator.js";
import { resolveSchemaValidatorOptions, type SchemaValidatorOptions } from "./validator-options.js";
import type { SchemaProblem, SchemaValidator } from "./verdict.js";

/** What the interpreter's package gives. */
interface Interpreter {
  readonly validate: typeof Interpret;
  readonly format: typeof Formats;
}

/** The interpreter takes about so many times the work of compiled code. */
const COST = 4;
const WORK_PER_STEP = 32;

/**
 * A validator that generates no code, for hosts that forbid it (@cfworker/json-schema). Ready sooner than
 * `createAjvValidator`, slower on each value, with the same verdicts, but for two kinds of schema:
 *
 * - one that has `patternProperties` with more than plain characters, classes and one repetition is `unsupported_dialect`;
 * - `maxValidationSteps` is passed sooner, most of all by `uniqueItems` on long lists that do have equal items.
 *
 * Loads nothing before it is used. `format` only annotates. Throws `invalid_options`.
 */
export function createInterpretingValidator(options: SchemaValidatorOptions = {}): SchemaValidator {
  const config = resolveSchemaValidatorOptions(options);
  return createSchemaValidator(config, {
    loadEngine: loadInterpreter,
    suits: () => true,
    loadExactEngine: loadInterpreter,
    loadPatterns: async () => {
      const { RE2JS } = await import("re2js");
      return createPatternCompiler(RE2JS, config.maxPatternInstructions);
    },
  });
}

/** The interpreter as an engine. */
export async function loadInterpreter(): Promise<SchemaEngine> {
  const interpreter = await import("@cfworker/json-schema");
  return { compile: (input) => prepare(interpreter, input) };
}

function prepare(interpreter: Interpreter, { plan, checks, meter }: EngineInput): CompiledSchema {
  // What is asked of the value beside each application of an entry: set anew for each value.
  let comparing = 0;
  let widest = 0;
  const lookup = (compareItems: boolean): Record<string, Schema | boolean> => {
    const schemas = toInterpretable(plan, compareItems);
    const byReference: Record<string, Schema | boolean> = {};
    plan.entries.forEach(({ weight, comparesItems, namePatterns }, number) => {
      // Every part that is applied more than once is looked up, so that this is where work is counted.
      Object.defineProperty(byReference, `#/$defs/${String(number)}`, {
        get: () => {
          const names = Math.ceil((namePatterns * widest) / WORK_PER_STEP);
          meter.charge(COST * (weight + names) + (compareItems && comparesItems ? comparing : 0));
          return schemas[number];
        },
      });
    });
    return byReference;
  };
  const withoutComparing = lookup(false);
  const mayCompare = plan.entries.some((entry) => entry.comparesItems);
  let withComparing: ReturnType<typeof lookup> | undefined;
  const rules = plan.texts.map((_, rule) => ({
    name: textFormat(rule),
    accepts: (text: string) => checks.acceptsText(rule, text),
  }));

  return (value) => {
    const extent = measure(value, mayCompare ? checks.areDistinct : undefined);
    widest = extent.widest;
    comparing = Math.ceil(extent.comparing / WORK_PER_STEP);
    meter.charge(Math.ceil(extent.parts / WORK_PER_STEP));
    const schemas = extent.comparing > 0 ? (withComparing ??= lookup(true)) : withoutComparing;
    const { format, validate } = interpreter;
    // The interpreter runs patterns on an engine that can take for ever; of strings it asks us instead. Its table of
    // formats is everybody's, and ours are in it only while this runs.
    for (const { name, accepts } of rules) format[name] = accepts;
    try {
      const { valid, errors } = validate(value, { $ref: "#/$defs/0" }, "2020-12", schemas);
      return valid ? [] : problemsOf(errors);
    } finally {
      for (const { name } of rules) delete format[name];
    }
  };
}

interface Extent {
  /** Values in the value, long strings counted by their length. */
  readonly parts: number;
  /** The most members that one object has. */
  readonly widest: number;
  /** The most work that comparing the items of one list can be; 0 when no list has equal items. */
  readonly comparing: number;
}

/** What a value can cost, by one look at each of its parts. */
function measure(value: unknown, areDistinct: ((items: readonly unknown[]) => boolean) | undefined): Extent {
  let widest = 0;
  let comparing = 0;
  let anyEqual = false;
  const visit = (part: unknown): number => {
    if (typeof part === "string") return 1 + Math.floor(part.length / WORK_PER_STEP);
    if (Array.isArray(part)) {
      let size = 1;
      for (const item of part) size += visit(item);
      comparing = Math.max(comparing, part.length * size);
      if (areDistinct !== undefined && !anyEqual) anyEqual = !areDistinct(part);
      return size;
    }
    if (!isJsonObject(part)) return 1;
    const members = Object.values(part);
    widest = Math.max(widest, members.length);
    let size = 1;
    for (const member of members) size += visit(member);
    return size;
  };
  const parts = visit(value);
  return { parts, widest, comparing: anyEqual ? comparing : 0 };
}

/** In place of reasons that are about our own keywords, or show the value. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["exclusiveMaximum", "must be below exclusiveMaximum"],
  ["exclusiveMinimum", "must be above exclusiveMinimum"],
  ["format", "must have the length and pattern that are asked for"],
  ["maximum", "must not be above maximum"],
  ["minimum", "must not be below minimum"],
  ["multipleOf", "must be a multiple of the number that is asked for"],
]);

/** Keywords that fail because something inside them does, which is told too. */
const CONTAINERS: ReadonlySet<string> = new Set([
  "$ref",
  "additionalProperties",
  "allOf",
  "items",
  "patternProperties",
  "prefixItems",
  "properties",
]);

function problemsOf(errors: readonly OutputUnit[]): readonly SchemaProblem[] {
  const problems = errors
    .filter(({ keyword }) => !CONTAINERS.has(keyword))
    .map(({ instanceLocation, keyword, error }) => ({
      path: decodePointer(instanceLocation),
      reason: REASONS.get(keyword) ?? error,
    }));
  return problems.length > 0 ? problems : [{ path: "", reason: "breaks the schema" }];
}

/** The interpreter writes places as fragments of addresses. */
function decodePointer(location: string): string {
  try {
    return decodeURIComponent(location.slice(1));
  } catch {
    return location.slice(1);
  }
}
