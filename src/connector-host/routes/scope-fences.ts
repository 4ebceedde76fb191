interface Scope {
  /** `undefined` while the scope is shut. */
  epoch: string | undefined;
  /** Highest fenced generation by connector key. Those of an earlier epoch are gone with it. */
  readonly fences: Map<string, number>;
}

/**
 * Which scopes are open, under which epoch, and which generations of their connectors may not be published any more.
 * Fences only rise, until their epoch ends or they are forgotten.
 */
export class ScopeFences {
  readonly #scopes = new Map<string, Scope>();

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
    this.#scopes.set(scope, { epoch, fences: fences ?? new Map() });
  }

  /** Ends the epoch, and its fences with it. */
  shut(scope: string): void {
    this.#scopes.delete(scope);
  }

  fenceOf(scope: string, connectorKey: string): number | undefined {
    return this.#scopes.get(scope)?.fences.get(connectorKey);
  }

  isFenced(scope: string, connectorKey: string, generation: number): boolean {
    const fence = this.fenceOf(scope, connectorKey);
    return fence !== undefined && generation <= fence;
  }

  raise(scope: string, connectorKey: string, generation: number): void {
    const known = this.#scopes.get(scope) ?? { epoch: undefined, fences: new Map() };
    this.#scopes.set(scope, known);
    known.fences.set(connectorKey, Math.max(generation, known.fences.get(connectorKey) ?? generation));
  }

  forget(scope: string, connectorKey: string): void {
    const known = this.#scopes.get(scope);
    known?.fences.delete(connectorKey);
    if (known?.epoch === undefined && known?.fences.size === 0) this.#scopes.delete(scope);
  }
}
