import {
  createAdaptiveValidator,
  createAjvValidator,
  createInterpretingValidator,
  type SchemaValidator,
  type SchemaValidatorOptions,
} from "../../../src/protocol/json-schema/index.js";

/** Every implementation of the port, by name. */
export const VALIDATORS: readonly (readonly [string, (options?: SchemaValidatorOptions) => SchemaValidator])[] = [
  ["ajv", createAjvValidator],
  ["the interpreter", createInterpretingValidator],
  ["first the one, then the other", createAdaptiveValidator],
];

export const DRAFT_07 = "http://json-schema.org/draft-07/schema#";
