/** How much schema text is kept, whatever the number of schemas. */
const MAX_TEXT = 8 * 1024 * 1024;

/**
 * What was made of schemas, by their text: a list read again finds what the first reading made, and two schemas that
 * call themselves the same are two. The one unused for longest goes first.
 */
export class SchemaCache<T> {
  readonly #limit: number;
  readonly #values = new Map<string, T>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(text: string): T | undefined {
    const value = this.#values.get(text);
    if (value !== undefined) {
      this.#values.delete(text);
      this.#values.set(text, value);
    }
    return value;
  }

  set(text: string, value: T): void {
    if (!this.#values.has(text)) this.#size += text.length;
    this.#values.set(text, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#limit && (this.#size <= MAX_TEXT || this.#values.size === 1)) break;
      this.#values.delete(oldest);
      this.#size -= oldest.length;
    }
  }

  get count(): number {
    return this.#values.size;
  }
}
