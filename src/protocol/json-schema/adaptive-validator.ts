import { isRemoteConnectorError } from "../../errors.js";
import { createAjvValidator } from "./ajv-validator.js";
import { createInterpretingValidator } from "./interpreting-validator.js";
import type { SchemaValidatorOptions } from "./validator-options.js";
import type { SchemaValidator, SchemaVerdict } from "./verdict.js";

/** Values of one schema that are interpreted before it is worth compiling. */
const INTERPRETED = 8;

/**
 * A validator that is ready soon and fast in the long run: the first values of each schema are interpreted, as by
 * `createInterpretingValidator`, which costs a fifth of loading a compiler; later ones are judged by compiled code, as by
 * `createAjvValidator`. So is every value of which the interpreter does not say that it is valid: problems are told in the
 * compiler's words alone. Where the host forbids code generation, everything is interpreted.
 *
 * Loads nothing before it is used. `format` only annotates. Throws `invalid_options`.
 */
export function createAdaptiveValidator(options: SchemaValidatorOptions = {}): SchemaValidator {
  const interpreting = createInterpretingValidator(options);
  const compiling = createAjvValidator(options);
  /** Values that were interpreted, by the schema's own object. */
  const interpreted = new WeakMap<object, number>();
  let mayCompile = true;

  const compile = async (schema: unknown, value: unknown): Promise<SchemaVerdict> => {
    if (!mayCompile) return interpreting.validate(schema, value);
    try {
      return await compiling.validate(schema, value);
    } catch (error) {
      if (!isRemoteConnectorError(error, "unsupported")) throw error;
      mayCompile = false;
      return interpreting.validate(schema, value);
    }
  };

  return {
    async validate(schema, value) {
      if (typeof schema !== "object" || schema === null) return compile(schema, value);
      const count = interpreted.get(schema) ?? 0;
      if (count >= INTERPRETED) return compile(schema, value);
      interpreted.set(schema, count + 1);
      const verdict = await interpreting.validate(schema, value);
      return verdict.kind === "valid" ? verdict : compile(schema, value);
    },
    load: () => interpreting.load(),
  };
}
