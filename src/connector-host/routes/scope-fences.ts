interface Scope {
  /** `undefined` while the scope is shut. */
  epoch: string | undefined;
  /** Highest fenced generation by connector key. Those of an earlier epoch are gone with it. */
  readonly fences: Map<string, number>;
}

/** Shut scopes of which fences are kept; one more, and those of the scope that was fenced first are dropped. */
const MAX_SHUT_SCOPES = 256;

/**
 * Which scopes are open, under which epoch, and which generations of their connectors may not be published any more.
 * Fences only rise, until their epoch ends or they are forgotten. A shut scope may never be opened again: its fences are kept
 * for a bounded number of such.
 */
export class ScopeFences {
  readonly #scopes = new Map<string, Scope>();
  /** Those of them that are shut, the one fenced first first. */
  readonly #shut = new Set<string>();

  get scopeCount(): number {
    return this.#scopes.size;
  }

  get fenceCount(): number {
    let count = 0;
    for (const { fences } of this.#scopes.values()) count += fences.size;
    return count;
  }

  epochOf(scope: string): string | undefined {
    return this.#scopes.get(scope)?.epoch;
  }

  /** Begins an epoch. Fences raised while the scope was shut belong to it; those of another epoch end. */
  open(scope: string, epoch: string): void {
    const known = this.#scopes.get(scope);
    if (known?.epoch === epoch) return;
    const fences = known?.epoch === undefined ? known?.fences : undefined;
    this.#shut.delete(scope);
    this.#scopes.set(scope, { epoch, fences: fences ?? new Map() });
  }

  /** Ends the epoch, and its fences with it. */
  shut(scope: string): void {
    this.#drop(scope);
  }

  fenceOf(scope: string, connectorKey: string): number | undefined {
    return this.#scopes.get(scope)?.fences.get(connectorKey);
  }

  isFenced(scope: string, connectorKey: string, generation: number): boolean {
    const fence = this.fenceOf(scope, connectorKey);
    return fence !== undefined && generation <= fence;
  }

  raise(scope: string, connectorKey: string, generation: number): void {
    const known = this.#scopes.get(scope) ?? this.#addShut(scope);
    known.fences.set(connectorKey, Math.max(generation, known.fences.get(connectorKey) ?? generation));
  }

  forget(scope: string, connectorKey: string): void {
    const known = this.#scopes.get(scope);
    known?.fences.delete(connectorKey);
    if (known?.epoch === undefined && known?.fences.size === 0) this.#drop(scope);
  }

  #addShut(scope: string): Scope {
    const added: Scope = { epoch: undefined, fences: new Map() };
    this.#scopes.set(scope, added);
    this.#shut.add(scope);
    for (const oldest of this.#shut) {
      if (this.#shut.size <= MAX_SHUT_SCOPES) break;
      this.#drop(oldest);
    }
    return added;
  }

  #drop(scope: string): void {
    this.#scopes.delete(scope);
    this.#shut.delete(scope);
  }
}
