/** Scopes of which fences are kept; one more, and those of the scope that was fenced first are dropped. */
const MAX_SCOPES = 256;

/**
 * Fences raised while a scope is shut, which count in its next epoch: by key, the last generation.
 *
 * A scope that never comes back would keep them for ever, so that they are bounded. Of what is dropped the greatest generation is
 * remembered: who keeps such a fence longer than this refuses nothing that is newer.
 */
export class ShutFences {
  readonly #scopes = new Map<string, Map<string, number>>();

  #droppedUpTo = 0;

  /** No fence that was dropped is of a greater generation; 0 when none was. */
  get droppedUpTo(): number {
    return this.#droppedUpTo;
  }

  /** How many scopes have any. */
  get size(): number {
    return this.#scopes.size;
  }

  raise(scope: string, key: string, generation: number): void {
    const fences = this.#scopes.get(scope) ?? new Map<string, number>();
    this.#scopes.set(scope, fences.set(key, generation));
    for (const [oldest, dropped] of this.#scopes) {
      if (this.#scopes.size <= MAX_SCOPES) break;
      this.#scopes.delete(oldest);
      for (const each of dropped.values()) this.#droppedUpTo = Math.max(this.#droppedUpTo, each);
    }
  }

  /** Hands over the scope's fences, and forgets them. */
  take(scope: string): ReadonlyMap<string, number> {
    const fences = this.#scopes.get(scope);
    this.#scopes.delete(scope);
    return fences ?? new Map();
  }
}
