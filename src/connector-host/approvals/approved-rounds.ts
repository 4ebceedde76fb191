import type { Clock } from "../../transport/index.js";

export interface ApprovedRoundsOptions {
  readonly clock: Clock;
  /** Rounds of one binding beyond which the oldest is forgotten. */
  readonly maxRounds: number;
  /** How long one is remembered, in milliseconds. */
  readonly roundMs: number;
}

/** The rounds of one binding, oldest first. */
interface BoundRounds {
  /** When each ends, by turn. Turns grow. */
  readonly ends: Map<number, number>;
  /** The last turn that was forgotten for want of room. */
  forgotten: number;
}

/** What became of a round that an agent wants to go on with. */
export type RoundFate = "taken" | "used" | "forgotten";

/**
 * The rounds that approved calls can go on with, each once, by the binding of their agent. What is forgotten or over can't be gone on with:
 * nothing here ever approves by what it doesn't know.
 */
export class ApprovedRounds {
  readonly #options: ApprovedRoundsOptions;
  /** No entry is empty. */
  readonly #byBinding = new Map<number, BoundRounds>();
  /** Set while there is anything to be forgotten. */
  #cancel: (() => void) | undefined;

  constructor(options: ApprovedRoundsOptions) {
    this.#options = options;
  }

  get size(): number {
    let size = 0;
    for (const { ends } of this.#byBinding.values()) size += ends.size;
    return size;
  }

  /** `turn` is greater than any before. */
  add(bindingId: number, turn: number): void {
    const { clock, maxRounds, roundMs } = this.#options;
    const rounds = this.#byBinding.get(bindingId) ?? { ends: new Map<number, number>(), forgotten: 0 };
    this.#byBinding.set(bindingId, rounds);
    for (const oldest of rounds.ends.keys()) {
      if (rounds.ends.size < maxRounds) break;
      rounds.ends.delete(oldest);
      rounds.forgotten = oldest;
    }
    rounds.ends.set(turn, clock.now() + roundMs);
    this.#cancel ??= clock.schedule(roundMs, () => this.#sweep());
  }

  /** One winner: whoever takes it first. */
  take(bindingId: number, turn: number): RoundFate {
    const rounds = this.#byBinding.get(bindingId);
    if (rounds?.ends.delete(turn) === true) {
      this.#dropEmpty(bindingId, rounds);
      return "taken";
    }
    return rounds !== undefined && turn <= rounds.forgotten ? "forgotten" : "used";
  }

  /** Forgets those of a binding that is over. */
  endOf(bindingId: number): void {
    this.#byBinding.delete(bindingId);
    this.#restIfEmpty();
  }

  close(): void {
    this.#byBinding.clear();
    this.#restIfEmpty();
  }

  #sweep(): void {
    const { clock } = this.#options;
    const now = clock.now();
    let nextAt = Infinity;
    for (const [bindingId, rounds] of this.#byBinding) {
      for (const [turn, endsAt] of rounds.ends) {
        if (endsAt <= now) rounds.ends.delete(turn);
        else nextAt = Math.min(nextAt, endsAt);
      }
      this.#dropEmpty(bindingId, rounds);
    }
    this.#cancel = nextAt === Infinity ? undefined : clock.schedule(nextAt - now, () => this.#sweep());
  }

  #dropEmpty(bindingId: number, { ends }: BoundRounds): void {
    if (ends.size === 0) this.#byBinding.delete(bindingId);
    this.#restIfEmpty();
  }

  #restIfEmpty(): void {
    if (this.#byBinding.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
