/** A stream that ended, with events that somebody may still come back for. */
export interface KeptStream {
  /** Bytes of its events. */
  readonly keptBytes: number;
  /** Drops its events. A reader that comes back is told that they are gone. */
  forget(): void;
}

export interface KeptStreamsOptions {
  /** Bytes of all streams together, beyond which the oldest go. */
  readonly maxBytes: number;
  /** How long a stream is kept. */
  readonly keepMs: number;
}

interface Entry {
  readonly bytes: number;
  readonly until: number;
}

/** The ended streams of all sessions whose events are kept, bounded by bytes and time. */
export class KeptStreams {
  readonly #options: KeptStreamsOptions;
  /** In the order of their ends, so that the oldest is first and the first due. */
  readonly #entries = new Map<KeptStream, Entry>();
  #bytes = 0;

  constructor(options: KeptStreamsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Keeps a stream that ended at `now`. */
  add(stream: KeptStream, now: number): void {
    this.#entries.set(stream, { bytes: stream.keptBytes, until: now + this.#options.keepMs });
    this.#bytes += stream.keptBytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#options.maxBytes) return;
      this.forget(oldest);
    }
  }

  /** Forgets a stream before its time. Does nothing for one that is not kept. */
  forget(stream: KeptStream): void {
    const entry = this.#entries.get(stream);
    if (entry === undefined) return;
    this.#entries.delete(stream);
    this.#bytes -= entry.bytes;
    stream.forget();
  }

  /** Forgets those whose time is over. */
  sweep(now: number): void {
    for (const [stream, { until }] of this.#entries) {
      if (now < until) return;
      this.forget(stream);
    }
  }
}
