import type { Ajv2020, ErrorObject } from "ajv/dist/2020.js";
import { RemoteConnectorError } from "../../errors.js";
import { loadInterpreter } from "./interpreting-validator.js";
import { createPatternCompiler } from "./linear-pattern.js";
import { isMultipleOf } from "./multiple-of.js";
import { type CompiledSchema, createSchemaValidator, type EngineInput } from "./schema-validator.js";
import { resolveSchemaValidatorOptions, type SchemaValidatorOptions } from "./validator-options.js";
import type { SchemaProblem, SchemaValidator } from "./verdict.js";

/**
 * A validator that compiles each schema to code (ajv), for hosts that allow it. Fast from the second value on. A schema
 * with `unevaluatedItems` or `unevaluatedProperties`, or a very wide one, is interpreted, as by
 * `createInterpretingValidator`.
 *
 * Loads nothing and generates no code before it is used. Where the host forbids code generation, `validate` and `load`
 * reject with `unsupported`; `createInterpretingValidator` is for there. `format` only annotates. Throws `invalid_options`.
 */
export function createAjvValidator(options: SchemaValidatorOptions = {}): SchemaValidator {
  const config = resolveSchemaValidatorOptions(options);
  return createSchemaValidator(config, {
    loadEngine: async () => {
      const { Ajv2020 } = await import("ajv/dist/2020.js");
      assertCodeGeneration(Ajv2020);
      return { compile: (input) => compile(Ajv2020, input) };
    },
    suits: ({ usesUnevaluated, largestEntry }) => !usesUnevaluated && largestEntry <= MAX_COMPILED,
    loadExactEngine: loadInterpreter,
    loadPatterns: async () => {
      const { RE2JS } = await import("re2js");
      return createPatternCompiler(RE2JS, config.maxPatternInstructions);
    },
  });
}

/** Throws `unsupported` in a host that lets no code be made from text. */
function assertCodeGeneration(ajv: typeof Ajv2020): void {
  try {
    create(ajv).compile({ type: "null" });
  } catch (cause) {
    throw new RemoteConnectorError("unsupported", {
      message: "This host forbids code generation: use createInterpretingValidator.",
      details: { feature: "code generation" },
      cause,
    });
  }
}

/**
 * The most schemas in one entry that are compiled: each nests one level deeper in the code, and near twice as many don't
 * fit on the stack. Nor is a schema compiled that asks what has been looked at, which compiled code knows only nearly.
 */
const MAX_COMPILED = 500;
const NO_PATTERN = { test: (): boolean => false };

/** An instance for one schema: what it compiled goes with it. */
function create(ajv: typeof Ajv2020, checks?: EngineInput["checks"]): Ajv2020 {
  // The engine's type asks for a source form, which only code written to files needs.
  const regExp = Object.assign((pattern: string) => checks?.namePattern(pattern) ?? NO_PATTERN, {
    code: "",
  });
  return new ajv({
    // Plans hold nothing that strictness could find, and each is checked already.
    strict: false,
    validateSchema: false,
    validateFormats: false,
    meta: false,
    addUsedSchema: false,
    logger: false,
    // Inlined references and optimized code can grow with the square of a schema.
    inlineRefs: false,
    code: { optimize: false, regExp },
    // Members such as `toString` are there only when the value has them.
    ownProperties: true,
  });
}

function compile(ajv: typeof Ajv2020, { plan, checks, meter }: EngineInput): CompiledSchema {
  const instance = create(ajv, checks);
  instance.addKeyword({
    keyword: "charge",
    before: "$ref",
    errors: false,
    validate: (steps: number) => {
      meter.charge(steps);
      return true;
    },
  });
  instance.addKeyword({
    keyword: "text",
    type: "string",
    error: { message: "must have the length and pattern that are asked for" },
    validate: (rule: number, text: string) => checks.acceptsText(rule, text),
  });
  instance.addKeyword({
    keyword: "among",
    error: { message: "must be equal to one of the allowed values" },
    validate: (choice: number, value: unknown) => checks.isAmong(choice, value),
  });
  instance.addKeyword({
    keyword: "distinct",
    type: "array",
    error: { message: "must NOT have duplicate items" },
    validate: (_: boolean, items: readonly unknown[]) => checks.areDistinct(items),
  });
  instance.removeKeyword("multipleOf");
  instance.addKeyword({
    keyword: "multipleOf",
    type: "number",
    error: { message: "must be a multiple of the number that is asked for" },
    validate: (divisor: number, value: number) => isMultipleOf(value, divisor),
  });
  const entries = plan.entries.map(({ node, weight }, number): [string, object] => {
    const charged = typeof node === "boolean" ? { not: !node } : node;
    return [String(number), { charge: weight, ...charged }];
  });
  const validate = instance.compile({ $ref: "#/$defs/0", $defs: Object.fromEntries(entries) });
  return (value) => (validate(value) ? [] : problemsOf(validate.errors ?? []));
}

function problemsOf(errors: readonly ErrorObject[]): readonly SchemaProblem[] {
  const problems = errors.map(({ instancePath, message, keyword }) => ({
    path: instancePath,
    reason: message ?? `breaks ${keyword}`,
  }));
  return problems.length > 0 ? problems : [{ path: "", reason: "breaks the schema" }];
}
