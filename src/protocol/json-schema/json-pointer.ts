/** A step of a JSON pointer, escaped (RFC 6901). */
export function pointerStep(name: string | number): string {
  return `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The unescaped steps of a JSON pointer, or `undefined` when it is none. */
export function pointerSteps(pointer: string): readonly string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/")) return undefined;
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
