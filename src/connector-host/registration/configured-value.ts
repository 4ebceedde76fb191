import { z } from "zod";

/** A secret that is kept elsewhere, under this name. A definition never holds the secret itself. */
export interface SecretRef {
  readonly secret: string;
}

/** A variable of the host's environment. One that is not set is `default`; without that, what needs it fails. */
export interface EnvironmentRef {
  readonly env: string;
  readonly default?: string | undefined;
}

export type ValuePart = string | SecretRef | EnvironmentRef;

/**
 * A text, where to get it, or several of both to be joined: `["Bearer ", { "secret": "docs.token" }]`. Texts mean themselves:
 * nothing in them is looked for or replaced. References are resolved when they are used, by whoever uses them.
 */
export type ConfiguredValue = ValuePart | readonly ValuePart[];

const VALUE_LENGTH = 32_768;
const VALUE_PARTS = 16;
/** Opaque, and printable. */
const SECRET_NAME = /^[!-~]{1,512}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_.()-]{0,255}$/;
const UNSENDABLE = /\0|\p{Surrogate}/u;

const literal = z
  .string()
  .max(VALUE_LENGTH)
  .refine((value) => !UNSENDABLE.test(value), "must be well-formed text without NUL");

const part = z.union(
  [
    literal,
    z.strictObject({ secret: z.string().regex(SECRET_NAME, "must be 1 to 512 printable characters") }).readonly(),
    z
      .strictObject({
        env: z.string().refine(isVariableName, "must be the name of a variable"),
        default: literal.optional(),
      })
      .readonly(),
  ],
  "must be a text, { secret } or { env }",
);

/** The schema of a {@link ConfiguredValue}. */
export const configuredValue: z.ZodType<ConfiguredValue> = z.union(
  [part, z.array(part).min(1).max(VALUE_PARTS).readonly()],
  `must be a text, { secret }, { env }, or at most ${String(VALUE_PARTS)} of these`,
);

/** Whether `name` can be that of a variable in an environment. */
export function isVariableName(name: string): boolean {
  return VARIABLE.test(name);
}

/** The parts of a value, in order. */
export function partsOf(value: ConfiguredValue): readonly ValuePart[] {
  return isOnePart(value) ? [value] : value;
}

/** All that a value holds by itself, its references aside. */
export function textsIn(value: ConfiguredValue): readonly string[] {
  return partsOf(value).flatMap((each) => {
    if (typeof each === "string") return [each];
    return "env" in each && each.default !== undefined ? [each.default] : [];
  });
}

function isOnePart(value: ConfiguredValue): value is ValuePart {
  return typeof value === "string" || "secret" in value || "env" in value;
}
