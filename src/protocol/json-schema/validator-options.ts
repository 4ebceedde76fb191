import { countOption, refuseUnknownOptions } from "../../options.js";

/** Limits of a validator. Each passed limit is a verdict (`invalid` of `limit`) that names its option, never an error. */
export interface SchemaValidatorOptions {
  /** UTF-16 units of a schema's JSON text. 262,144 when left out. */
  readonly maxSchemaSize?: number | undefined;
  /** Schemas inside schemas. 64 when left out. */
  readonly maxSchemaDepth?: number | undefined;
  /** Subschemas of a schema, the root included. 2,000 when left out. */
  readonly maxSubschemas?: number | undefined;
  /** Instructions that a schema's patterns compile to, together. 50,000 when left out. */
  readonly maxPatternInstructions?: number | undefined;
  /** Work done for one value: about the subschemas that are applied to its parts. 2,000,000 when left out. */
  readonly maxValidationSteps?: number | undefined;
  /** Problems in one verdict. 16 when left out. */
  readonly maxProblems?: number | undefined;
  /** Schemas kept ready for use; the one unused for longest goes first. 256 when left out. */
  readonly maxCachedSchemas?: number | undefined;
}

/** {@link SchemaValidatorOptions} with nothing left out. */
export interface SchemaValidatorConfig {
  readonly maxSchemaSize: number;
  readonly maxSchemaDepth: number;
  readonly maxSubschemas: number;
  readonly maxPatternInstructions: number;
  readonly maxValidationSteps: number;
  readonly maxProblems: number;
  readonly maxCachedSchemas: number;
}

const DEFAULTS: SchemaValidatorConfig = {
  maxSchemaSize: 262_144,
  maxSchemaDepth: 64,
  maxSubschemas: 2_000,
  maxPatternInstructions: 50_000,
  maxValidationSteps: 2_000_000,
  maxProblems: 16,
  maxCachedSchemas: 256,
};

/** Fills in what was left out. Throws `invalid_options`. */
export function resolveSchemaValidatorOptions(options: SchemaValidatorOptions): SchemaValidatorConfig {
  refuseUnknownOptions(options, Object.keys(DEFAULTS));
  const count = (name: keyof SchemaValidatorConfig): number => countOption(name, options[name], DEFAULTS[name]);
  return {
    maxSchemaSize: count("maxSchemaSize"),
    maxSchemaDepth: count("maxSchemaDepth"),
    maxSubschemas: count("maxSubschemas"),
    maxPatternInstructions: count("maxPatternInstructions"),
    maxValidationSteps: count("maxValidationSteps"),
    maxProblems: count("maxProblems"),
    maxCachedSchemas: count("maxCachedSchemas"),
  };
}
