import type { HttpCallContext } from "./http-call-ports.js";
import type { Lifetime, LifetimeOwner } from "./lifetime.js";

/** How long and how much the rest of a finished stream may take before its connection is given up. */
const DRAIN_MS = 1_000;
const DRAIN_BYTES = 64 * 1024;
/** How many streams of an endpoint may be drained at once. The connections of further ones are given up right away. */
export const MAX_DRAINING = 8;

/** Reads what is left of a stream whose owner has what it needs, within bounds, so that its connection can be used again. */
export class StreamDrain implements LifetimeOwner {
  readonly #context: HttpCallContext;
  readonly #giveUp: () => void;
  #lifetime: Lifetime | undefined;
  #bytes = 0;
  #isOver = false;

  /** `giveUp` is called once, when a bound is passed; at the earliest in {@link begin}. */
  constructor(context: HttpCallContext, giveUp: () => void) {
    this.#context = context;
    this.#giveUp = giveUp;
    context.draining += 1;
  }

  begin(): void {
    if (this.#context.draining > MAX_DRAINING) this.#giveUp();
    // A stream that ends in this very chunk, as most do, needs no watch.
    else queueMicrotask(() => this.#watch());
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > DRAIN_BYTES) this.#giveUp();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#context.draining -= 1;
    this.#lifetime?.close();
  }

  onDeadline(): void {
    this.#giveUp();
  }

  onAbort(): void {
    this.#giveUp();
  }

  #watch(): void {
    if (this.#isOver) return;
    const limits = { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: DRAIN_MS };
    this.#lifetime = this.#context.lifetimes.open(this, limits);
  }
}
