import { Chance } from "../../chaos/chance.js";

/** Pieces of keys and names that are likely to meet, or to be cut in a bad place. */
const PIECES = [
  ...Array.from("ab_-.: xX0/"),
  "__",
  "a_b",
  "tool",
  "c",
  "-x",
  "-x0123456789av",
  "x".repeat(10),
  "y".repeat(24),
  "é",
  "読",
  "💥",
  "\u212a",
  "\u0000",
  "constructor",
] as const;

/** How many names of others are remembered to make new ones of. */
const REMEMBERED = 512;

/**
 * Makes keys and native names, without an end: words of few pieces, numbered ones, and what can be cut and joined from names
 * that a policy gave to others. Never an empty native name.
 */
export class HostileNames {
  readonly #chance: Chance;
  readonly #outputs: string[] = ["a_b"];
  #count = 0;

  constructor(seed: number) {
    this.#chance = new Chance("hostile names", seed);
  }

  /** Tells it of a name, whose parts come back as keys and names of other pairs. */
  learn(exposedName: string): void {
    if (this.#outputs.length < REMEMBERED) this.#outputs.push(exposedName);
    else this.#outputs[this.#chance.below(REMEMBERED)] = exposedName;
  }

  next(): readonly [key: string, native: string] {
    this.#count += 1;
    const native = this.#text();
    return [this.#text(), native === "" ? "_" : native];
  }

  #text(): string {
    const chance = this.#chance;
    switch (chance.below(8)) {
      case 0:
      case 1:
        return this.#word();
      case 2:
        return `${this.#word()}${String(this.#count)}`;
      case 3:
        return this.#output();
      case 4:
        return this.#cut(this.#output());
      case 5:
        // The stem of one with the mark of another.
        return this.#cut(this.#output()) + this.#output().slice(-14);
      case 6:
        return this.#output().replace(/[_-]/, chance.pick(["_", "-", "__", ".", " "]));
      default:
        return this.#output() + chance.pick(PIECES);
    }
  }

  #word(): string {
    return Array.from({ length: this.#chance.below(6) }, () => this.#chance.pick(PIECES)).join("");
  }

  #output(): string {
    return this.#chance.pick(this.#outputs);
  }

  /** What is before a place in `text`, or what is after it; at a `_` more often than anywhere else. */
  #cut(text: string): string {
    const chance = this.#chance;
    const at = chance.below(2) === 0 ? text.indexOf("_", chance.below(text.length)) : chance.below(text.length);
    if (at === -1) return text;
    return chance.below(2) === 0 ? text.slice(0, at) : text.slice(at + 1);
  }
}
