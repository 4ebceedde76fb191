/** Which generation each key is at, and what was planned under each: read from the rows that pass by. */
export class Generations {
  readonly #latest = new Map<string, number>();
  readonly #identities = new Map<number, string>();

  /** Takes in whatever passes by; what is no convergence row is not looked at. */
  readonly note = (row: unknown): void => {
    const desired = member(row, "desired");
    const generation = member(desired, "generation");
    if (typeof generation !== "number") return;
    this.#latest.set(nameOf(row), generation);
    this.#identities.set(generation, textOf(desired, "identity"));
  };

  /** Whether a convergence row desires something else than the one before it. */
  isNew(row: unknown): boolean {
    return this.#latest.get(nameOf(row)) !== member(member(row, "desired"), "generation");
  }

  identityOf(generation: number): string | undefined {
    return this.#identities.get(generation);
  }
}

function nameOf(row: unknown): string {
  return JSON.stringify([textOf(row, "scope"), textOf(row, "key")]);
}

/** A member of what may be an object. */
export function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** A member as text; `""` when it is not there. */
export function textOf(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === "string" || typeof found === "bigint" || typeof found === "number" ? String(found) : "";
}
