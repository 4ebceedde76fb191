/** A unit of work over anything. */
interface InnerStore<Tx> {
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * A store whose write transactions fail where they are told to: at the n-th step from then on, which is a begin, a call of any
 * row method, or a commit. Reading is left alone.
 */
export class FailingStore<Tx extends object> {
  readonly #inner: InnerStore<Tx>;
  /** Steps until it fails; `undefined`: it does not. */
  #left: number | undefined;
  #forGood = false;
  /** Steps that failed so far, by name. */
  readonly failed: string[] = [];

  constructor(inner: InnerStore<Tx>) {
    this.#inner = inner;
  }

  /** Fails the `step`-th step from now, beginning with 1; `forGood`: and every one after it. */
  failAt(step: number, { forGood = false } = {}): void {
    this.#left = step;
    this.#forGood = forGood;
  }

  mend(): void {
    this.#left = undefined;
  }

  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    this.#step("begin");
    return this.#inner.write(async (tx) => {
      const result = await work(this.#watch(tx));
      this.#step("commit");
      return result;
    });
  }

  read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#inner.read(work);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #step(name: string): void {
    if (this.#left === undefined) return;
    this.#left -= 1;
    if (this.#left > 0) return;
    if (!this.#forGood) this.#left = undefined;
    this.failed.push(name);
    throw new Error(`The store fails at ${name}.`);
  }

  /** Every method of every kind of rows is a step. */
  #watch<Rows extends object>(rows: Rows, path = ""): Rows {
    return new Proxy(rows, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        const at = path === "" ? String(name) : `${path}.${String(name)}`;
        if (typeof member === "object" && member !== null) return this.#watch(member, at);
        if (typeof member !== "function" || name === "onSettled") return member;
        return async (...args: unknown[]): Promise<unknown> => {
          this.#step(at);
          return await Reflect.apply(member, target, args);
        };
      },
    });
  }
}
