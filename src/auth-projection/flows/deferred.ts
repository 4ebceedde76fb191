/** A promise that is settled from outside, once. Nobody has to listen to its rejection. */
export class Deferred<T> {
  readonly promise: Promise<T>;
  #settle: { readonly resolve: (value: T) => void; readonly reject: (reason: unknown) => void } | undefined;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => (this.#settle = { resolve, reject }));
    this.promise.catch(ignore);
  }

  get isSettled(): boolean {
    return this.#settle === undefined;
  }

  resolve(value: T): void {
    this.#take()?.resolve(value);
  }

  reject(reason: unknown): void {
    this.#take()?.reject(reason);
  }

  #take() {
    const settle = this.#settle;
    this.#settle = undefined;
    return settle;
  }
}

function ignore(): void {}
