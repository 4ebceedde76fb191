/** A unit of work over anything. */
interface InnerStore<Tx> {
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A store that can be made to stand still: what is asked of it then waits, for ever if nobody lets it go on. */
export class HeldStore<Tx extends object> {
  readonly #inner: InnerStore<Tx>;
  #held: Promise<void> | undefined;
  #release: () => void = () => undefined;
  /** Reads and writes that were let through so far. */
  transactions = 0;
  /** Told when the store is to be closed. */
  onClose: () => void = () => undefined;

  constructor(inner: InnerStore<Tx>) {
    this.#inner = inner;
  }

  hold(): void {
    this.#held ??= new Promise((resolve) => (this.#release = resolve));
  }

  release(): void {
    this.#held = undefined;
    this.#release();
  }

  async write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    await this.#held;
    this.transactions += 1;
    return this.#inner.write(work);
  }

  async read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    await this.#held;
    this.transactions += 1;
    return this.#inner.read(work);
  }

  async close(): Promise<void> {
    this.onClose();
    await this.#held;
    await this.#inner.close();
  }
}
