/** A JSON value as text; `undefined` for what is none, or is nested too deep for the stack. */
export function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
