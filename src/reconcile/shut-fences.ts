/** Scopes of which fences are kept; one more, and those of the scope that was fenced first are dropped. */
const MAX_SCOPES = 256;

/**
 * Fences raised while a scope is shut, which count in its next epoch: by key, the last generation.
 *
 * A scope that never comes back would keep them for ever, so that they are bounded. What is dropped loses little: the scope's
 * next epoch plans by facts that were read in it.
 */
export class ShutFences {
  readonly #scopes = new Map<string, Map<string, number>>();

  /** How many scopes have any. */
  get size(): number {
    return this.#scopes.size;
  }

  raise(scope: string, key: string, generation: number): void {
    const fences = this.#scopes.get(scope) ?? new Map<string, number>();
    this.#scopes.set(scope, fences.set(key, generation));
    for (const oldest of this.#scopes.keys()) {
      if (this.#scopes.size <= MAX_SCOPES) break;
      this.#scopes.delete(oldest);
    }
  }

  /** Hands over the scope's fences, and forgets them. */
  take(scope: string): ReadonlyMap<string, number> {
    const fences = this.#scopes.get(scope);
    this.#scopes.delete(scope);
    return fences ?? new Map();
  }
}
