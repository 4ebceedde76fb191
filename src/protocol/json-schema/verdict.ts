/** Where a value or a schema goes wrong. */
export interface SchemaProblem {
  /** A JSON pointer (RFC 6901) into the value, or into the schema when the schema is at fault; `""` is the whole. */
  readonly path: string;
  /** For people. At most 200 characters, without control characters. Holds names of members, never their values. */
  readonly reason: string;
}

/**
 * What is known of a value under a schema. Only `valid` means that it conforms.
 *
 * - `invalid` of `value`: the value breaks the schema.
 * - `invalid` of `schema`: the schema breaks its own dialect, so that nothing conforms to it.
 * - `invalid` of `limit`: a limit was passed before the answer was known; the reason names the option that raises it.
 * - `unsupported_dialect`: the schema is of another dialect, or uses a construct that can't be judged safely here.
 * - `unresolved_ref`: a reference leads out of the schema, or to nothing in it. References are never fetched.
 *
 * `problems` has at least one entry and at most `maxProblems`. Source: 2026-07-28, Overview, JSON Schema Usage.
 */
export type SchemaVerdict =
  | { readonly kind: "valid" }
  | {
      readonly kind: "invalid";
      readonly of: "value" | "schema" | "limit";
      readonly problems: readonly SchemaProblem[];
    }
  | { readonly kind: "unsupported_dialect"; readonly problems: readonly SchemaProblem[] }
  | { readonly kind: "unresolved_ref"; readonly problems: readonly SchemaProblem[] };

/** Judges JSON values by JSON Schemas that nobody here wrote. */
export interface SchemaValidator {
  /**
   * The verdict on a JSON value. A schema is read and compiled when it is first used, and found again by its content;
   * its object must not be changed afterwards. Judging is synchronous once everything is loaded, and bounded.
   *
   * Rejects only when the host can't run this validator at all: `unsupported`.
   */
  validate(schema: unknown, value: unknown): Promise<SchemaVerdict>;
  /** Loads what the first `validate` needs, so that it can be done while an answer is awaited. Rejects like `validate`. */
  load(): Promise<void>;
}

/** The verdict on a value that conforms. */
export const VALID: SchemaVerdict = { kind: "valid" };

/** Thrown inside this folder to end the reading of a schema, or the judging of a value, with a verdict. */
export class Refusal {
  readonly verdict: SchemaVerdict;

  constructor(verdict: SchemaVerdict) {
    this.verdict = verdict;
  }
}

export function brokenSchema(path: string, reason: string): Refusal {
  return new Refusal({ kind: "invalid", of: "schema", problems: [{ path, reason }] });
}

export function overLimit(path: string, option: string, limit: number): Refusal {
  const reason = `more than ${option} (${String(limit)}) allows`;
  return new Refusal({ kind: "invalid", of: "limit", problems: [{ path, reason }] });
}

export function unsupportedDialect(path: string, reason: string): Refusal {
  return new Refusal({ kind: "unsupported_dialect", problems: [{ path, reason }] });
}

export function unresolvedRef(path: string, reason: string): Refusal {
  return new Refusal({ kind: "unresolved_ref", problems: [{ path, reason }] });
}
