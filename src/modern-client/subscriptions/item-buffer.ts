import { RemoteConnectorError } from "../../errors.js";
import type { SubscriptionEnd } from "./subscription-end.js";

interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

interface Held<T> {
  readonly value: T;
  readonly size: number;
}

/** How much may wait to be taken. */
export interface BufferLimits {
  readonly maxBufferedNotifications: number;
  readonly maxBufferedBytes: number;
}

/**
 * What came and was not taken yet, bounded, as an async iterator. What is in it when the subscription ends is still given out,
 * then the iteration is over: by a throw of the error when it was refused or broke.
 */
export class ItemBuffer<T> implements AsyncIterableIterator<T, undefined> {
  readonly #limits: BufferLimits;
  readonly #onReturn: () => void;
  #items: Held<T>[] = [];
  #bytes = 0;
  #waiters: Waiter<T>[] = [];
  #end: SubscriptionEnd | undefined;

  /** `onReturn` is told when the consumer leaves early. */
  constructor(limits: BufferLimits, onReturn: () => void) {
    this.#limits = limits;
    this.#onReturn = onReturn;
  }

  /** The item that came last and was not taken yet. */
  get last(): T | undefined {
    return this.#items.at(-1)?.value;
  }

  /** Why the item could not be taken, if it wasn't: `limit_exceeded`. `size` in bytes. */
  push(value: T, size: number): RemoteConnectorError<"limit_exceeded"> | undefined {
    if (this.#end === undefined && this.#waiters.length === 0) {
      const { maxBufferedNotifications, maxBufferedBytes } = this.#limits;
      if (this.#items.length >= maxBufferedNotifications) {
        return bufferFull("maxBufferedNotifications", maxBufferedNotifications);
      }
      if (this.#bytes + size > maxBufferedBytes) return bufferFull("maxBufferedBytes", maxBufferedBytes);
    }
    this.add(value, size);
    return undefined;
  }

  /** Takes the item even when it is full. */
  add(value: T, size = 0): void {
    if (this.#end !== undefined) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) {
      waiter.resolve({ done: false, value });
      return;
    }
    this.#items.push({ value, size });
    this.#bytes += size;
  }

  /** Puts another item in the place of {@link last}, which had no size. */
  replaceLast(value: T): void {
    this.#items[this.#items.length - 1] = { value, size: 0 };
  }

  end(end: SubscriptionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    for (const waiter of this.#waiters.splice(0)) this.#settle(waiter, this.#end);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      const first = this.#items.shift();
      if (first !== undefined) {
        this.#bytes -= first.size;
        resolve({ done: false, value: first.value });
      } else if (this.#end !== undefined) {
        this.#settle({ resolve, reject }, this.#end);
      } else {
        this.#waiters.push({ resolve, reject });
      }
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#items = [];
    this.#bytes = 0;
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

function bufferFull(option: keyof BufferLimits, limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `More waits to be taken than ${option} allows.`,
    delivery: "answered",
    details: { option, limit },
  });
}
