/** Where lines go. */
export interface LineSink {
  /** Takes a text and says whether it can take more now; `done` is told when the text left, or why it could not. */
  write(text: string, done: (cause: Error | null | undefined) => void): boolean;
}

/** A line that waits to be written. */
export interface Outgoing {
  /**
   * Called once, synchronously before the line is written: its text without a line end, or `undefined` when it is no
   * longer wanted. From here on the peer may have seen it.
   */
  take(): string | undefined;
  /** The line could not be written, or not whole. Called at most once; without `take` before, nothing of it left. */
  failed(cause: Error): void;
  /** The whole line left this process. Called at most once, after `take`, and never with `failed`. */
  written?(): void;
}

/** What became of a line that was to be queued. */
export type QueueVerdict =
  | { readonly kind: "accepted" }
  | { readonly kind: "full" }
  | { readonly kind: "broken"; readonly cause: Error };

/**
 * Lines on their way to a peer that may read slowly or not at all.
 *
 * At most one write is with the sink beyond what the sink wants to hold; the others wait here, in order, where they can
 * still be taken back. A peer that never reads thereby costs a bounded number of lines, and requests that wait here
 * are known not to have been sent.
 */
export class WriteQueue {
  readonly #sink: LineSink;
  readonly #maxQueued: number;
  readonly #waiting = new Set<Outgoing>();
  /** The sink wants no more until `drained` is called. */
  #blocked = false;
  #flushing = false;
  #broken: Error | undefined;

  constructor(sink: LineSink, options: { readonly maxQueuedMessages: number }) {
    this.#sink = sink;
    this.#maxQueued = options.maxQueuedMessages;
  }

  /** Lines that wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Writes the line now or as soon as those before it are gone. When it isn't accepted nothing of it will be called. */
  push(line: Outgoing): QueueVerdict {
    if (this.#broken !== undefined) return { kind: "broken", cause: this.#broken };
    if (this.#waiting.size >= this.#maxQueued) return { kind: "full" };
    this.#waiting.add(line);
    this.#flush();
    return { kind: "accepted" };
  }

  /** Takes a line back; `false` when it was written already. */
  remove(line: Outgoing): boolean {
    return this.#waiting.delete(line);
  }

  /** The sink can take more. */
  drained(): void {
    this.#blocked = false;
    this.#flush();
  }

  /** The sink can't be written to any more: every waiting line fails, and so does every later one. */
  break(cause: Error): void {
    const waiting = [...this.#waiting];
    this.close(cause);
    for (const line of waiting) line.failed(cause);
  }

  /** Nothing will be written any more, as the owner of the waiting lines knows: they are dropped without a call. */
  close(cause: Error): void {
    this.#broken ??= cause;
    this.#waiting.clear();
  }

  #flush(): void {
    // A line's `take` may push another line, which then waits for its turn.
    if (this.#flushing) return;
    this.#flushing = true;
    for (const line of this.#waiting) {
      if (this.#blocked || this.#broken !== undefined) break;
      this.#waiting.delete(line);
      const text = line.take();
      if (text === undefined) continue;
      const takesMore = this.#sink.write(`${text}\n`, (cause) => {
        if (cause instanceof Error) line.failed(cause);
        else line.written?.();
      });
      this.#blocked = !takesMore;
    }
    this.#flushing = false;
  }
}
