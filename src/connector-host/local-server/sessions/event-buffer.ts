/** One event that was sent, or would have been. */
export interface BufferedEvent {
  /** Its place in the stream, from 1. */
  readonly position: number;
  readonly message: Uint8Array;
}

export interface EventBufferLimits {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

/** What a reader that came as far as a position has to get. */
export interface Replay {
  readonly events: readonly BufferedEvent[];
  /** Whether nothing between the position and the events is gone. */
  readonly isWhole: boolean;
}

/**
 * The newest events of one stream, for readers that come back. Beyond either limit the oldest go, at last the newest itself.
 * Positions are handed out once, in order. Pure.
 */
export class EventBuffer {
  readonly #limits: EventBufferLimits;
  #events: BufferedEvent[] = [];
  #bytes = 0;
  /** The newest position that was handed out. */
  #last = 0;
  /** The newest position of an event that is gone. */
  #lost = 0;

  constructor(limits: EventBufferLimits) {
    this.#limits = limits;
  }

  /** Bytes of the messages that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A position of its own, without an event: a reader can come back to it. */
  mark(): number {
    this.#last += 1;
    return this.#last;
  }

  /** Keeps an event; returns its position. */
  append(message: Uint8Array): number {
    const position = this.mark();
    this.#events.push({ position, message });
    this.#bytes += message.byteLength;
    while (this.#events.length > this.#limits.maxEvents || this.#bytes > this.#limits.maxBytes) this.#dropOldest();
    return position;
  }

  /** What comes after a position; `undefined` for one that was never handed out. `0` is the beginning. */
  after(position: number): Replay | undefined {
    if (!Number.isInteger(position) || position < 0 || position > this.#last) return undefined;
    return {
      events: this.#events.filter((event) => event.position > position),
      isWhole: position >= this.#lost,
    };
  }

  /** Drops every event. Positions stay what they were. */
  clear(): void {
    while (this.#events.length > 0) this.#dropOldest();
  }

  #dropOldest(): void {
    const oldest = this.#events.shift();
    if (oldest === undefined) return;
    this.#bytes -= oldest.message.byteLength;
    this.#lost = oldest.position;
  }
}
