import type { SchemaValidator } from "./json-schema/index.js";

/** Gives a validator; loads it when it is asked for first. */
export type LoadValidator = () => Promise<SchemaValidator>;

/** The caller's validator; without one, one that interprets first and compiles later. Nothing is loaded before it is asked for. */
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
  const { createAdaptiveValidator } = await import("./json-schema/index.js");
  const validator = createAdaptiveValidator();
  await validator.load();
  return validator;
}
