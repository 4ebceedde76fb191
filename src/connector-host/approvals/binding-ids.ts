import type { Binding } from "../local-server/index.js";

/** A number for each binding's object, which no other ever has. It says nothing, and is kept no longer than the object. */
export class BindingIds {
  readonly #ids = new WeakMap<Binding, number>();
  #last = 0;

  of(binding: Binding): number {
    const known = this.#ids.get(binding);
    if (known !== undefined) return known;
    this.#last += 1;
    this.#ids.set(binding, this.#last);
    return this.#last;
  }
}
