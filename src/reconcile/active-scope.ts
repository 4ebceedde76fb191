import type { RunOutcome } from "./host-ports.js";

/** What goes on for a key, beyond what its row says. */
export type KeyPhase =
  /** Nothing: its row says whether it is due. */
  | { readonly kind: "resting" }
  /** A run works on this generation, and may write with this token. */
  | { readonly kind: "running"; readonly generation: number; readonly runToken: number }
  /** Someone else works on this generation and will report. */
  | { readonly kind: "starting"; readonly generation: number };

/** Why a key that is due is not tried: it failed or was put off, or it has used its failure budget up. */
export type KeyPause = "waiting" | "parked";

/** An outcome that did not come from a run. */
export interface Report {
  readonly generation: number;
  readonly outcome: RunOutcome;
}

/** What is known of a key only as long as its scope has this epoch. */
export class KeyState {
  #phase: KeyPhase = { kind: "resting" };
  #fencedAt: number;
  /** Revokes in a row whose reason was rolled back, and when the last one was. */
  rollbacks = 0;
  rolledBackAt: number | undefined;
  /** Waits to be written by the key's next run. Only the last counts: it says what is now. */
  report: Report | undefined;
  /** The key's next run does not wait for its next attempt. */
  probing = false;
  /** Something waits for the key: its next run does not wait for its turn either. */
  needed = false;
  /** Why the key is not tried while it rests, since it was last looked at: for metrics only, its row says the same. */
  pause: KeyPause | undefined;
  /** Failures of a store or a port in a row, for which there may be no row to count in. */
  troubles = 0;

  constructor(fencedAt: number) {
    this.#fencedAt = fencedAt;
  }

  /** Everything up to this generation was revoked. It only grows; 0 when nothing was. */
  get fencedAt(): number {
    return this.#fencedAt;
  }

  fence(generation: number): void {
    this.#fencedAt = Math.max(this.#fencedAt, generation);
  }

  get phase(): KeyPhase {
    return this.#phase;
  }

  setPhase(phase: KeyPhase): void {
    this.#phase = phase;
  }

  /** What the key was tried for without a pause has begun, or is the case. */
  endProbing(): void {
    this.probing = false;
    this.needed = false;
  }

  /** Waits for no report any more. */
  endStarting(): void {
    if (this.#phase.kind === "starting") this.setPhase({ kind: "resting" });
  }
}

/** A scope from one activation to the next shutting. */
export class ActiveScope {
  readonly scope: string;
  readonly epoch: string;
  /** Keys that were ever queued, planned or fenced in this epoch, and have not been removed. */
  readonly #keys = new Map<string, KeyState>();
  /** The next sweep tries every key that waits for its next attempt. */
  probingAll = false;
  /** Sweeps in a row that could not read. */
  troubles = 0;
  /** The last key to which a sweep came that was ended by its deadline: the next one begins behind it. */
  sweptTo: string | undefined;
  readonly #fencedUpTo: number;

  /** `fencedUpTo`: every key of it may be fenced up to this generation. */
  constructor(scope: string, epoch: string, fencedUpTo = 0) {
    this.scope = scope;
    this.epoch = epoch;
    this.#fencedUpTo = fencedUpTo;
  }

  /** Everything of the key up to this generation was revoked, or may have been. */
  fencedAt(key: string): number {
    return this.#keys.get(key)?.fencedAt ?? this.#fencedUpTo;
  }

  get keys(): Iterable<string> {
    return this.#keys.keys();
  }

  get states(): Iterable<KeyState> {
    return this.#keys.values();
  }

  /** The key's state, made when there is none. */
  key(key: string): KeyState {
    let state = this.#keys.get(key);
    if (state === undefined) {
      state = new KeyState(this.#fencedUpTo);
      this.#keys.set(key, state);
    }
    return state;
  }

  /** The key's state, if it has one. */
  find(key: string): KeyState | undefined {
    return this.#keys.get(key);
  }

  forget(key: string): void {
    this.#keys.delete(key);
  }
}
