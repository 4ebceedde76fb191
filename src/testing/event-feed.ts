import type { EventTemplate } from "./event.js";

/** How a feed ends its streams: whole, by closing the connection before the end of the body, or by resetting it. */
export type FeedEnd = "whole" | "cut" | "reset";

/** What listens to a feed. */
export interface FeedListener {
  onEvent(event: EventTemplate): void;
  onEnd(how: FeedEnd): void;
}

/**
 * Events of a stream that is answered while they come: a test sends into it whenever it likes.
 *
 * Each stream that plays the feed gets every event from the first one on, in the order in which they were sent.
 */
export class EventFeed {
  readonly #sent: EventTemplate[] = [];
  readonly #listeners = new Set<FeedListener>();
  #ended: FeedEnd | undefined;

  /** Streams that play it now. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Sends an event. After the end it is ignored. */
  send(event: EventTemplate): void {
    if (this.#ended !== undefined) return;
    this.#sent.push(event);
    for (const listener of this.#listeners) listener.onEvent(event);
  }

  /** Ends the streams, in peace when nothing else is said. */
  end(how: FeedEnd = "whole"): void {
    if (this.#ended !== undefined) return;
    this.#ended = how;
    for (const listener of this.#listeners) listener.onEnd(how);
  }

  /** Plays what was sent so far, and what comes. Returns what ends the listening. */
  listen(listener: FeedListener): () => void {
    for (const event of this.#sent) listener.onEvent(event);
    if (this.#ended !== undefined) listener.onEnd(this.#ended);
    else this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
