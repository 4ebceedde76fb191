import type { ReconcileEvent } from "./event-facts.js";

/** Hears every event. Does not throw. */
export type ReconcileListener = (event: ReconcileEvent) => void;

/** Those who hear events as they happen. */
export class EventListeners {
  readonly #onDropped: (error: unknown) => void;
  /** With the number of the event after which each came. */
  readonly #listeners = new Map<ReconcileListener, number>();
  /** Not empty only while events are given out. */
  readonly #undelivered: { readonly event: ReconcileEvent; readonly number: number }[] = [];
  /** Events so far. */
  #count = 0;
  #delivering = false;

  /** `onDropped`: a listener threw, and is no longer told anything. */
  constructor(onDropped: (error: unknown) => void) {
    this.#onDropped = onDropped;
  }

  /** Adds a listener, for what is told after this; the returned function removes it. */
  add(listener: ReconcileListener): () => void {
    // A wrapper of its own, so that the same function can be added twice and each be removed by itself.
    const own: ReconcileListener = (event) => listener(event);
    this.#listeners.set(own, this.#count);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Tells everyone, in the order of the calls: also when a listener causes the next event. */
  tell(event: ReconcileEvent): void {
    this.#count += 1;
    this.#undelivered.push({ event, number: this.#count });
    if (this.#delivering) return;
    this.#delivering = true;
    for (let next = this.#undelivered.shift(); next !== undefined; next = this.#undelivered.shift()) {
      for (const [listener, after] of this.#listeners) if (after < next.number) this.#tellOne(listener, next.event);
    }
    this.#delivering = false;
  }

  #tellOne(listener: ReconcileListener, event: ReconcileEvent): void {
    try {
      listener(event);
    } catch (error) {
      this.#listeners.delete(listener);
      this.#onDropped(error);
    }
  }
}
