/** Tells listeners of events, each in the order of the calls, also when a listener causes the next one; and none for another's fault. */
export class EventTeller<Event> {
  readonly #onListenerFailure: (error: unknown) => void;
  readonly #listeners = new Set<(event: Event) => void>();
  /** Not empty only while events are told. */
  readonly #waiting: Event[] = [];
  #isTelling = false;

  constructor(onListenerFailure: (error: unknown) => void) {
    this.#onListenerFailure = onListenerFailure;
  }

  subscribe(listener: (event: Event) => void): () => void {
    // A wrapper of its own, so that the same function can be added twice and each be removed by itself.
    const own = (event: Event): void => listener(event);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  tell(...events: readonly Event[]): void {
    this.#waiting.push(...events);
    if (this.#isTelling) return;
    this.#isTelling = true;
    for (let event = this.#waiting.shift(); event !== undefined; event = this.#waiting.shift()) this.#tellAll(event);
    this.#isTelling = false;
  }

  #tellAll(event: Event): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#onListenerFailure(error);
      }
    }
  }
}
