/** Holes that are not worth closing up. */
const FEW = 64;

/**
 * Keys in the order in which they came, each once. Everything takes the same time, however many there are: a `Set` from whose
 * front keys are taken looks at the places of all those that are gone, each time it is asked for the first.
 */
export class KeyLine {
  /** Keys by place; `undefined` where one was removed. */
  #places: (string | undefined)[] = [];
  readonly #placeOf = new Map<string, number>();
  /** Before this place nothing is left. */
  #front = 0;

  /** Puts a key at the end; one that waits already keeps its place. */
  add(key: string): void {
    if (this.#placeOf.has(key)) return;
    this.#placeOf.set(key, this.#places.length);
    this.#places.push(key);
  }

  remove(key: string): void {
    const place = this.#placeOf.get(key);
    if (place === undefined) return;
    this.#placeOf.delete(key);
    this.#places[place] = undefined;
    this.#closeUp();
  }

  /** Places that are kept, holes included: at most about twice as many as there are keys. */
  get places(): number {
    return this.#places.length;
  }

  /** The key that has waited longest; it stays. */
  get first(): string | undefined {
    return this.#places[this.#front];
  }

  /** Afterwards there is a key at the front, or nothing at all. */
  #closeUp(): void {
    while (this.#front < this.#places.length && this.#places[this.#front] === undefined) this.#front += 1;
    // Holes are everywhere: a key that waits long at the front must not keep the places of all that come and go behind it.
    const holes = this.#places.length - this.#placeOf.size;
    if (holes < FEW || holes * 2 < this.#places.length) return;
    // At least half of the places go, so that each key is moved about once.
    this.#places = this.#places.filter((key) => key !== undefined);
    for (const [place, key] of this.#places.entries()) if (key !== undefined) this.#placeOf.set(key, place);
    this.#front = 0;
  }
}
