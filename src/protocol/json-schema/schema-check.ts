import type { JsonObject } from "../json-rpc.js";
import { SchemaCache } from "./schema-cache.js";
import { SchemaIndex } from "./schema-index.js";
import { resolveSchemaValidatorOptions, type SchemaValidatorOptions } from "./validator-options.js";
import { Refusal, type SchemaProblem } from "./verdict.js";

/** Limits of a {@link SchemaCheck}. */
export type SchemaCheckOptions = Pick<SchemaValidatorOptions, "maxCachedSchemas" | "maxSchemaDepth" | "maxSubschemas">;

/** Where a schema breaks its own dialect; `undefined` when it doesn't, and when that can't be said. */
export type SchemaCheck = (schema: JsonObject) => SchemaProblem | undefined;

/**
 * Makes a check of schemas by themselves, without a value: whether each keyword, at every place that its dialect knows, has the
 * form that the dialect asks for. Synchronous, generates no code, and remembers what it found by the schema's text.
 *
 * Only what is certainly broken is a problem. A schema of a dialect that is not spoken here, or beyond a limit, is none, and
 * patterns and references are not looked at. Throws `invalid_options`.
 */
export function createSchemaCheck(options: SchemaCheckOptions = {}): SchemaCheck {
  const config = resolveSchemaValidatorOptions({ maxCachedSchemas: 2_048, ...options });
  const known = new SchemaCache<SchemaProblem | null>(config.maxCachedSchemas);
  return (schema) => {
    const text = textOf(schema);
    if (text === undefined) return undefined;
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered ?? undefined;
    const found = find(schema, config);
    known.set(text, found ?? null);
    return found;
  };
}

function find(schema: JsonObject, limits: ConstructorParameters<typeof SchemaIndex>[1]): SchemaProblem | undefined {
  try {
    // Reading it is checking it.
    return void new SchemaIndex(schema, limits);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { verdict } = error;
    return verdict.kind === "invalid" && verdict.of === "schema" ? verdict.problems[0] : undefined;
  }
}

/** `undefined` for what is nested so deep that it can't be written. */
function textOf(schema: JsonObject): string | undefined {
  try {
    return JSON.stringify(schema);
  } catch {
    return undefined;
  }
}
