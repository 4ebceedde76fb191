import type { SubscriptionEnd } from "./subscription-end.js";

interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * What came and was not taken yet, bounded, as an async iterator. What is in it when the subscription ends is still given out,
 * then the iteration is over: by a throw of the error when it was refused or broke.
 */
export class ItemBuffer<T> implements AsyncIterableIterator<T, undefined> {
  readonly #limit: number;
  readonly #onReturn: () => void;
  #items: T[] = [];
  #waiters: Waiter<T>[] = [];
  #end: SubscriptionEnd | undefined;

  /** `onReturn` is told when the consumer leaves early. */
  constructor(limit: number, onReturn: () => void) {
    this.#limit = limit;
    this.#onReturn = onReturn;
  }

  /** The item that came last and was not taken yet. */
  get last(): T | undefined {
    return this.#items.at(-1);
  }

  /** False when it is full, and the item was not taken. `evenIfFull`: takes it all the same. */
  push(item: T, evenIfFull = false): boolean {
    if (this.#end !== undefined) return true;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) waiter.resolve({ done: false, value: item });
    else if (this.#items.length >= this.#limit && !evenIfFull) return false;
    else this.#items.push(item);
    return true;
  }

  /** Puts another item in the place of {@link last}. */
  replaceLast(item: T): void {
    this.#items[this.#items.length - 1] = item;
  }

  end(end: SubscriptionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const waiter of this.#waiters.splice(0)) this.#settle(waiter, this.#end);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      if (this.#items.length > 0) {
        for (const value of this.#items.splice(0, 1)) resolve({ done: false, value });
      } else if (this.#end !== undefined) {
        this.#settle({ resolve, reject }, this.#end);
      } else {
        this.#waiters.push({ resolve, reject });
      }
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#items = [];
    this.#onReturn();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** A failure is thrown once; what asks again is over. */
  #settle({ resolve, reject }: Waiter<T>, end: SubscriptionEnd): void {
    if (end.kind !== "refused" && end.kind !== "broken") {
      resolve(DONE);
      return;
    }
    this.#end = { kind: "cancelled", reason: undefined };
    reject(end.error);
  }
}

const DONE = { done: true, value: undefined } as const;
