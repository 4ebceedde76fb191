import { z } from "zod";

const LONE_SURROGATE = /\p{Surrogate}/u;
const CONTROL = /\p{Cc}/u;
const TOOL_NAME_BYTES = 256;

/** Text of a person or a server. Well-formed, so that it has one canonical form. */
export function text(maxLength: number): z.ZodType<string> {
  return z
    .string()
    .max(maxLength)
    .refine((value) => !LONE_SURROGATE.test(value), "must be well-formed text");
}

/** A name for people, on one line. */
export const displayName = text(128).refine(
  (value) => value.trim() === value && value !== "" && !CONTROL.test(value),
  "must be one line of text, without spaces at its ends",
);

/** Why `name` can't be the name of a tool; `undefined` when it can. */
export function refuseToolName(name: string): string | undefined {
  if (LONE_SURROGATE.test(name)) return "must be a name of well-formed text";
  const bytes = Buffer.byteLength(name, "utf8");
  return bytes >= 1 && bytes <= TOOL_NAME_BYTES ? undefined : `must be a name of 1 to ${String(TOOL_NAME_BYTES)} bytes`;
}
