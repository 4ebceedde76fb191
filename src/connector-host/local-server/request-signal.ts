type Listener = Parameters<AbortSignal["addEventListener"]>[1];

/**
 * The end of one request, as a signal that costs next to nothing while it does not fire: making an `AbortSignal` and listening to it
 * is a fifth of what a small call costs. It has the shape of one, for who needs no more than that; {@link real} is one.
 */
export class RequestSignal {
  onabort: AbortSignal["onabort"] = null;
  #isAborted = false;
  #reason: unknown;
  #listeners: Listener[] = NO_LISTENERS;
  /** Made when somebody asks for it. */
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#isAborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  /** An `AbortSignal` that fires with this one; the same each time. */
  get real(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Fires it. Only the first time counts. */
  abort(reason: unknown = new DOMException("The request was ended.", "AbortError")): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.dispatchEvent(new Event("abort"));
  }

  throwIfAborted(): void {
    if (this.#isAborted) throw this.#reason;
  }

  addEventListener(type: string, listener: Listener): void {
    if (type !== "abort" || this.#listeners.includes(listener)) return;
    if (this.#listeners === NO_LISTENERS) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  removeEventListener(_type: string, listener: Listener): void {
    const place = this.#listeners.indexOf(listener);
    if (place !== -1) this.#listeners.splice(place, 1);
  }

  dispatchEvent(event: Event): boolean {
    this.onabort?.call(this, event);
    // A copy, since listeners take themselves away.
    for (const listener of this.#listeners.slice()) {
      if (typeof listener === "function") listener(event);
      else listener.handleEvent(event);
    }
    return true;
  }
}

const NO_LISTENERS: Listener[] = [];
