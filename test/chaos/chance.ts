/** Chance that can be had again: the same words give the same numbers, on every machine. */
export class Chance {
  #state: number;

  constructor(...words: readonly (string | number)[]) {
    // FNV-1a over the words. A NUL keeps ("a", "b") apart from ("ab").
    let hash = 0x811c9dc5;
    for (const character of words.join("\0")) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
    this.#state = hash;
  }

  /** In [0, 1). */
  readonly next = (): number => {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T extends {}>(choices: readonly T[]): T {
    const picked = choices[this.below(choices.length)];
    if (picked === undefined) throw new Error("There is nothing to choose from.");
    return picked;
  }

  /** The same things in another order. */
  shuffle<T>(things: readonly T[]): readonly T[] {
    return things
      .map((thing) => ({ thing, place: this.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ thing }) => thing);
  }
}
