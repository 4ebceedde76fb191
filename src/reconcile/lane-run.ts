import { RemoteConnectorError } from "../errors.js";
import type { Clock } from "./ports.js";
import type { SlotLimits, Slots } from "./slots.js";

/** The limits of a queue and of each of its runs. */
export interface LaneLimits extends SlotLimits {
  readonly maxNeeded: number;
  readonly yieldAfterMs: number;
  readonly runTimeoutMs: number;
  readonly abandonAfterMs: number;
}

/** What the work of a lane is told of its run. */
export interface LaneContext {
  /** Fires with the reason when the run should end. */
  readonly signal: AbortSignal;
  /** Whether the run holds one of the slots; one that was added as `urgent` does not. */
  readonly holdsSlot: boolean;
  /**
   * Waits for `promise`, and lets another run work meanwhile when that takes long. Rejects with the signal's reason as soon
   * as the signal fires.
   */
  waiting<T>(promise: Promise<T>): Promise<T>;
}

/** Where a run is in its life. */
type RunState =
  | { readonly kind: "running"; readonly cancelTimer: () => void }
  /** It was told to end, and has until the timer fires. */
  | { readonly kind: "aborted"; readonly cancelTimer: () => void }
  | { readonly kind: "over" };

/** The run's claim on a slot. */
type SlotState =
  | { readonly kind: "none" }
  | { readonly kind: "held" }
  | { readonly kind: "yielded" }
  | { readonly kind: "returning"; readonly granted: () => void; readonly resumes: (() => void)[] };

/** One run of one lane: its signal, its deadline, its slot. */
export class LaneRun implements LaneContext {
  readonly holdsSlot: boolean;
  readonly #controller = new AbortController();
  readonly #slots: Slots;
  readonly #clock: Clock;
  readonly #limits: LaneLimits;
  readonly #onAbandoned: () => void;
  /** Those who wait in `#unlessAborted`. A set of our own: more than ten listeners on a signal make Node warn. */
  readonly #waiters = new Set<(reason: unknown) => void>();
  #state: RunState;
  #slot: SlotState;

  /** `holdsSlot`: a slot was taken for this run, and is given back by it. `onAbandoned` is called once, if at all. */
  constructor(slots: Slots, clock: Clock, limits: LaneLimits, holdsSlot: boolean, onAbandoned: () => void) {
    this.#slots = slots;
    this.#clock = clock;
    this.#limits = limits;
    this.#onAbandoned = onAbandoned;
    this.holdsSlot = holdsSlot;
    this.#slot = holdsSlot ? { kind: "held" } : { kind: "none" };
    this.#state = { kind: "running", cancelTimer: this.#clock.schedule(limits.runTimeoutMs, this.#onDeadline) };
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** It has ended or was abandoned: nothing of it is held any more. */
  get isOver(): boolean {
    return this.#state.kind === "over";
  }

  /** Tells the run to end. It keeps its lane and its slot until it does, or is abandoned. */
  abort(reason: unknown): void {
    if (this.#state.kind !== "running") return;
    this.#setState({
      kind: "aborted",
      cancelTimer: this.#clock.schedule(this.#limits.abandonAfterMs, this.#onGraceOver),
    });
    this.#controller.abort(reason);
    for (const reject of this.#waiters) reject(reason);
  }

  /** The run has ended. Idempotent. */
  end(): void {
    if (this.#state.kind === "over") return;
    this.#setState({ kind: "over" });
    const slot = this.#slot;
    this.#slot = { kind: "none" };
    if (slot.kind === "held") this.#slots.giveBack();
    else if (slot.kind === "yielded") this.#slots.forgo();
    else if (slot.kind === "returning") this.#slots.forgo(slot.granted);
  }

  async waiting<T>(promise: Promise<T>): Promise<T> {
    const cancelYield = this.#clock.schedule(this.#limits.yieldAfterMs, this.#onLongWait);
    try {
      return await this.#unlessAborted(promise);
    } finally {
      cancelYield();
      await this.#takeSlotBack();
    }
  }

  readonly #onDeadline = (): void => {
    const limitMs = this.#limits.runTimeoutMs;
    this.abort(
      new RemoteConnectorError("timeout", {
        message: `The run did not end within ${String(limitMs)} ms.`,
        details: { phase: "total", option: "runTimeoutMs", limitMs },
      }),
    );
  };

  readonly #onGraceOver = (): void => {
    this.end();
    this.#onAbandoned();
  };

  readonly #onLongWait = (): void => {
    if (this.#slot.kind === "held" && this.#slots.tryYield()) this.#slot = { kind: "yielded" };
  };

  /** Resolves when the run may work again; at once for one that is to end, which needs no slot for that. */
  async #takeSlotBack(): Promise<void> {
    if (this.#state.kind !== "running" || this.#slot.kind === "held" || this.#slot.kind === "none") return;
    await this.#unlessAborted(new Promise<void>((resolve) => this.#whenHeld(resolve)));
  }

  #whenHeld(resume: () => void): void {
    if (this.#slot.kind === "returning") {
      this.#slot.resumes.push(resume);
      return;
    }
    const resumes = [resume];
    const granted = (): void => {
      this.#slot = { kind: "held" };
      for (const each of resumes) each();
    };
    this.#slot = { kind: "returning", granted, resumes };
    this.#slots.takeBack(granted);
  }

  #unlessAborted<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.signal.aborted) reject(this.signal.reason);
      this.#waiters.add(reject);
      promise.then(
        (value) => {
          this.#waiters.delete(reject);
          resolve(value);
        },
        (error: unknown) => {
          this.#waiters.delete(reject);
          reject(error);
        },
      );
    });
  }

  #setState(state: RunState): void {
    if (this.#state.kind !== "over") this.#state.cancelTimer();
    this.#state = state;
  }
}
