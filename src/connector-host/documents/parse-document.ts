import type { z } from "zod";
import type { DocumentRow } from "./document-rows.js";

/** What a document holds, read by its owner's schema; `undefined` for a text that is no JSON or does not fit. Pure. */
export function parseDocument<T>(schema: z.ZodType<T>, { text }: Pick<DocumentRow, "text">): T | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}
