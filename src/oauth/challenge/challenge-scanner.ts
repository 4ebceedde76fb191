/**
 * Reads the parts of a challenge, one after the other, from one field of the header. Each method looks at the place where the one
 * before stopped; no character is looked at more than a fixed number of times. Total: throws nothing.
 */
export class ChallengeScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Passes spaces and tabs. Whether there was one. */
  skipSpace(): boolean {
    return this.#match(SPACE) !== "";
  }

  /** Passes one comma. Whether there was one. */
  skipComma(): boolean {
    if (this.#text[this.#at] !== ",") return false;
    this.#at += 1;
    return true;
  }

  /** Passes what fits nowhere: a quoted text as a whole, so that nothing in it is taken for a parameter, or one character. */
  skipGarbage(): void {
    if (this.#text[this.#at] === '"') this.#readQuoted();
    else this.#at += 1;
  }

  /** A scheme or the name of a parameter; `""` when there is none. */
  readToken(): string {
    return this.#match(TOKEN);
  }

  /** Passes an `=` and the spaces around it. Whether there was one; otherwise the place stays. */
  skipEquals(): boolean {
    EQUALS.lastIndex = this.#at;
    if (!EQUALS.test(this.#text)) return false;
    this.#at = EQUALS.lastIndex;
    return true;
  }

  /** A token68, which ends where its challenge does; `undefined`, and the place stays, when there is none. */
  readToken68(): string | undefined {
    const start = this.#at;
    const found = this.#match(TOKEN68);
    const end = this.#at;
    this.skipSpace();
    if (found !== "" && (this.isAtEnd || this.#text[this.#at] === ",")) {
      this.#at = end;
      return found;
    }
    this.#at = start;
    return undefined;
  }

  /**
   * The value of a parameter: quoted, without its quotes and escapes, or everything up to a space, a comma or a quote, since URLs come
   * without quotes as well. `undefined` for quotes without an end, which reach to that of the field.
   */
  readValue(): string | undefined {
    return this.#text[this.#at] === '"' ? this.#readQuoted() : this.#match(BARE);
  }

  #readQuoted(): string | undefined {
    const parts: string[] = [];
    let start = this.#at + 1;
    let at = start;
    while (at < this.#text.length) {
      const character = this.#text[at];
      if (character === '"') {
        parts.push(this.#text.slice(start, at));
        this.#at = at + 1;
        return parts.join("");
      }
      if (character === "\\") {
        parts.push(this.#text.slice(start, at));
        start = at + 1;
        at += 1;
      }
      at += 1;
    }
    this.#at = this.#text.length;
    return undefined;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}

// Sticky, and without anything that could be matched in two ways: each is linear.
const SPACE = /[ \t]+/y;
const TOKEN = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;
const EQUALS = /[ \t]*=[ \t]*/y;
const TOKEN68 = /[A-Za-z0-9\-._~+/]+=*/y;
const BARE = /[^ \t,"]*/y;
