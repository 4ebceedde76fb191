import { isRemoteConnectorError } from "../errors.js";
import type { SchemaValidator } from "./json-schema/index.js";

/** Gives a validator; loads it when it is asked for first. */
export type LoadValidator = () => Promise<SchemaValidator>;

/**
 * The caller's validator; without one ajv, or, where code generation is forbidden, the interpreter. Nothing is loaded
 * before it is asked for.
 */
export function validatorLoader(given: SchemaValidator | undefined): LoadValidator {
  let loading = given === undefined ? undefined : Promise.resolve(given);
  return () => {
    loading ??= loadOwn();
    // What failed once may be there the next time.
    loading.catch(() => (loading = undefined));
    return loading;
  };
}

async function loadOwn(): Promise<SchemaValidator> {
  const { createAjvValidator, createInterpretingValidator } = await import("./json-schema/index.js");
  const validator = createAjvValidator();
  try {
    await validator.load();
    return validator;
  } catch (error) {
    if (!isRemoteConnectorError(error, "unsupported")) throw error;
    return createInterpretingValidator();
  }
}
