import { LaneRun, type LaneContext, type LaneLimits } from "./lane-run.js";
import type { Clock } from "./ports.js";
import { Slots } from "./slots.js";

/** What a queue works with. */
export interface KeyedQueueOptions<Job> {
  readonly clock: Clock;
  readonly limits: LaneLimits;
  /** Does one job. It does not reject; its lane is busy until it resolves, or is abandoned. */
  readonly work: (job: Job, lane: LaneContext) => Promise<void>;
  /** A run was told to end, for `reason`, and did not. Called before its lane is free. */
  readonly onAbandoned: (job: Job, reason: unknown) => void;
}

/** A job that waits for its turn. `urgent` needs no slot. */
interface Pending<Job> {
  readonly job: Job;
  readonly urgent: boolean;
}

/** What is going on for one key. A key without a lane is idle. */
type Lane<Job> =
  | { readonly kind: "queued"; readonly next: Pending<Job> }
  /** `again`: added since the run began, so it runs once more. */
  | { readonly kind: "running"; readonly run: LaneRun; readonly again: Pending<Job> | undefined };

/** What is going on for a key, in a word. */
export type LaneState = "idle" | Lane<unknown>["kind"];

/**
 * Work by key, in memory: one run of a key at a time, in the order in which the keys were added.
 *
 * - Adding a key that waits changes nothing but its job; adding one that runs makes it run once more.
 * - So every `add` is followed by a run that begins after it, unless the key is cancelled or the queue closed.
 * - Runs begin in a microtask, never inside `add`.
 * - As many runs work at once as there are slots. An urgent job begins at once and takes none.
 */
export class KeyedQueue<Job> {
  readonly #options: KeyedQueueOptions<Job>;
  readonly #slots: Slots;
  readonly #lanes = new Map<string, Lane<Job>>();
  /** Keys that are queued, in the order of service. One that has become urgent may be in both. */
  readonly #urgent = new Set<string>();
  readonly #ordinary = new Set<string>();
  readonly #idleWaiters: (() => void)[] = [];
  #pumpIsDue = false;
  #closed = false;

  constructor(options: KeyedQueueOptions<Job>) {
    this.#options = options;
    this.#slots = new Slots(options.limits, () => this.#pumpSoon());
  }

  /** Makes the key run. Nothing happens after `close`. */
  add(id: string, job: Job, urgent = false): void {
    if (this.#closed) return;
    const lane = this.#lanes.get(id);
    const waiting = lane?.kind === "queued" ? lane.next : lane?.again;
    const next: Pending<Job> = { job, urgent: urgent || waiting?.urgent === true };
    if (lane?.kind === "running") this.#lanes.set(id, { ...lane, again: next });
    else this.#enqueue(id, next);
  }

  /** Tells the key's run to end, if there is one. What was added since it began still runs. */
  abort(id: string, reason: unknown): void {
    const lane = this.#lanes.get(id);
    if (lane?.kind === "running") lane.run.abort(reason);
  }

  /** Forgets what is queued for the key, and tells its run to end. */
  cancel(id: string, reason: unknown): void {
    const lane = this.#lanes.get(id);
    if (lane?.kind === "queued") this.#drop(id);
    if (lane?.kind !== "running") return;
    this.#lanes.set(id, { ...lane, again: undefined });
    lane.run.abort(reason);
  }

  /** What is going on for the key. */
  stateOf(id: string): LaneState {
    return this.#lanes.get(id)?.kind ?? "idle";
  }

  /** Resolves when no key is queued and none runs. */
  whenIdle(): Promise<void> {
    if (this.#lanes.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Cancels everything. Resolves when every run has ended or is abandoned. */
  close(reason: unknown): Promise<void> {
    this.#closed = true;
    for (const id of this.#lanes.keys()) this.cancel(id, reason);
    return this.whenIdle();
  }

  #enqueue(id: string, next: Pending<Job>): void {
    this.#lanes.set(id, { kind: "queued", next });
    (next.urgent ? this.#urgent : this.#ordinary).add(id);
    this.#pumpSoon();
  }

  #drop(id: string): void {
    this.#urgent.delete(id);
    this.#ordinary.delete(id);
    this.#lanes.delete(id);
    this.#tellIdle();
  }

  #pumpSoon(): void {
    if (this.#pumpIsDue) return;
    this.#pumpIsDue = true;
    queueMicrotask(() => {
      this.#pumpIsDue = false;
      this.#pump();
    });
  }

  #pump(): void {
    for (const id of this.#urgent) this.#begin(id, false);
    for (const id of this.#ordinary) {
      if (!this.#slots.tryTake()) return;
      this.#begin(id, true);
    }
  }

  #begin(id: string, holdsSlot: boolean): void {
    this.#urgent.delete(id);
    this.#ordinary.delete(id);
    const lane = this.#lanes.get(id);
    if (lane?.kind !== "queued") return;
    const { job } = lane.next;
    const { clock, limits, onAbandoned } = this.#options;
    const run = new LaneRun(this.#slots, clock, limits, holdsSlot, () => {
      onAbandoned(job, run.signal.reason);
      this.#free(id);
    });
    this.#lanes.set(id, { kind: "running", run, again: undefined });
    const ended = (): void => {
      if (run.isOver) return;
      run.end();
      this.#free(id);
    };
    this.#options.work(job, run).then(ended, ended);
  }

  #free(id: string): void {
    const lane = this.#lanes.get(id);
    this.#lanes.delete(id);
    if (lane?.kind === "running" && lane.again !== undefined) this.#enqueue(id, lane.again);
    this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.#lanes.size > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}
