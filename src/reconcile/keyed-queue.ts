import { KeyLine } from "./key-line.js";
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

/**
 * How a job gets its turn.
 *
 * - `ordinary`: in the order of adding, when a slot is free.
 * - `needed`: like an ordinary one, or earlier at one of the slots that are kept for such.
 * - `urgent`: at once, without a slot.
 */
export type Priority = "ordinary" | "needed" | "urgent";

const RANK: Record<Priority, number> = { ordinary: 0, needed: 1, urgent: 2 };

/** A job that waits for its turn. */
interface Pending<Job> {
  readonly job: Job;
  readonly priority: Priority;
}

/** What is going on for one key. A key without a lane is idle. */
type Lane<Job> =
  | { readonly kind: "queued"; readonly next: Pending<Job> }
  /** `again`: added since the run began, so it runs once more. */
  | { readonly kind: "running"; readonly run: LaneRun; readonly again: Pending<Job> | undefined };

/** What is going on for a key, in a word. */
export type LaneState = "idle" | Lane<unknown>["kind"];

/** How much there is to do. */
export interface QueueDepth {
  /** Keys that wait for their turn. */
  readonly queued: number;
  readonly running: number;
  /** Those that run, gave their slot up while they wait for something, and have none yet. */
  readonly yielded: number;
}

/**
 * Work by key, in memory: one run of a key at a time, in the order in which the keys were added.
 *
 * - Adding a key that waits changes nothing but its job; adding one that runs makes it run once more.
 * - So every `add` is followed by a run that begins after it, unless the key is cancelled or the queue closed.
 * - Runs begin in a microtask, never inside `add`.
 * - As many runs work at once as there are slots. An urgent job begins at once and takes none.
 * - Jobs that are needed have slots of their own beside the others, which runs that hang at those can't take from them; the
 *   others are served in order all the same, however many jobs are needed.
 */
export class KeyedQueue<Job> {
  readonly #options: KeyedQueueOptions<Job>;
  readonly #slots: Slots;
  /** Those kept for jobs that are needed. */
  readonly #neededSlots: Slots;
  readonly #lanes = new Map<string, Lane<Job>>();
  /** Keys that are queued, in the order of service. One that is needed, or has become more pressing, may be in several. */
  readonly #urgent = new Set<string>();
  readonly #needed = new KeyLine();
  readonly #ordinary = new KeyLine();
  readonly #idleWaiters: (() => void)[] = [];
  /** Lanes that are running. */
  #running = 0;
  #pumpIsDue = false;
  #closed = false;

  constructor(options: KeyedQueueOptions<Job>) {
    this.#options = options;
    const { maxNeeded, maxWaiting } = options.limits;
    this.#slots = new Slots(options.limits, () => this.#pumpSoon());
    this.#neededSlots = new Slots({ maxWorking: maxNeeded, maxWaiting }, () => this.#pumpSoon());
  }

  /** Makes the key run. Nothing happens after `close`. */
  add(id: string, job: Job, priority: Priority = "ordinary"): void {
    if (this.#closed) return;
    const lane = this.#lanes.get(id);
    const waiting = lane?.kind === "queued" ? lane.next : lane?.again;
    const next: Pending<Job> = { job, priority: morePressing(priority, waiting?.priority) };
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

  get depth(): QueueDepth {
    const yielded = this.#slots.waiting + this.#neededSlots.waiting;
    return { queued: this.#lanes.size - this.#running, running: this.#running, yielded };
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
    if (next.priority === "urgent") this.#urgent.add(id);
    else this.#ordinary.add(id);
    if (next.priority === "needed") this.#needed.add(id);
    this.#pumpSoon();
  }

  #drop(id: string): void {
    this.#unqueue(id);
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
    for (const id of this.#urgent) this.#begin(id);
    this.#serve(this.#needed, this.#neededSlots);
    this.#serve(this.#ordinary, this.#slots);
  }

  #serve(line: KeyLine, slots: Slots): void {
    for (let id = line.first; id !== undefined; id = line.first) {
      if (!slots.tryTake()) return;
      this.#begin(id, slots);
    }
  }

  #unqueue(id: string): void {
    this.#urgent.delete(id);
    this.#needed.remove(id);
    this.#ordinary.remove(id);
  }

  /** `slots`: where a slot was taken for it, if one was. */
  #begin(id: string, slots?: Slots): void {
    this.#unqueue(id);
    const lane = this.#lanes.get(id);
    if (lane?.kind !== "queued") return;
    const { job } = lane.next;
    const { clock, limits, onAbandoned } = this.#options;
    const run = new LaneRun(slots ?? this.#slots, clock, limits, slots !== undefined, () => {
      onAbandoned(job, run.signal.reason);
      this.#free(id);
    });
    this.#lanes.set(id, { kind: "running", run, again: undefined });
    this.#running += 1;
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
    this.#running -= 1;
    if (lane?.kind === "running" && lane.again !== undefined) this.#enqueue(id, lane.again);
    this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.#lanes.size > 0) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

function morePressing(one: Priority, other: Priority = "ordinary"): Priority {
  return RANK[one] >= RANK[other] ? one : other;
}
