import { type Linked, OpenList } from "../open-list.js";
import type { Clock } from "./clock.js";

/** The deadlines of one request, in milliseconds (`Infinity` for none), and the caller's own signal. */
export interface LifetimeLimits {
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Which deadline passed. */
export type DeadlinePhase = "connect" | "idle" | "total";

/** Who is told when a lifetime ends before its request does. At most one of the two is called, once. */
export interface LifetimeOwner {
  onDeadline(phase: DeadlinePhase, limitMs: number): void;
  onAbort(reason: unknown): void;
}

/** The watch over one request. It starts with only the total deadline running. */
export interface Lifetime {
  /** Nothing is waited for of the peer, or not yet: only the total deadline runs. */
  waiting(): void;
  /** A connection is being looked for: the connect deadline runs. */
  connecting(): void;
  /** The request was handed over: the connect deadline ends, the idle deadline runs. */
  established(): void;
  /** A sign of life: the idle deadline starts anew. */
  touch(): void;
  /** The idle deadline stops, also in phases to come, until {@link release} starts it anew. */
  hold(): void;
  release(): void;
  /** Ends the watch. Afterwards nothing of it is left on the signal or in a timer. Idempotent. */
  close(): void;
}

/** Who keeps lifetimes. For the lifetimes themselves. */
interface LifetimeKeeper {
  arm(dueAt: number): void;
  release(lifetime: WatchedLifetime): void;
}

/**
 * The one place that joins callers' signals and deadlines.
 *
 * It keeps one timer for all open lifetimes, and one listener per signal however many requests share it: a timer and a
 * listener per request cost more than a small request does, and more than ten listeners on a signal make Node warn.
 * The timer is never set later than the earliest moment at which something is due, and looks at everything when it
 * fires; a sign of life is then only a number written down.
 */
export class Lifetimes implements LifetimeKeeper {
  readonly #clock: Clock;
  readonly #open = new OpenList<WatchedLifetime>();
  /** One for each signal of an open lifetime. They are few, and mostly one for each. */
  readonly #watches = new OpenList<SignalWatch>();
  #cancelTimer: (() => void) | undefined;
  #timerDueAt = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Lifetimes that are open. */
  get size(): number {
    return this.#open.size;
  }

  /** Opens a watch. The caller has tested `limits.signal.aborted` before: a signal that fired already is not heard. */
  open(owner: LifetimeOwner, limits: LifetimeLimits): Lifetime {
    const now = this.#clock.now();
    const lifetime = new WatchedLifetime(this.#clock, owner, limits, now, this);
    if (limits.signal !== undefined) this.#watch(limits.signal, lifetime);
    this.#open.add(lifetime);
    // Early enough for the phases to come, too: a request that is quick sets the timer once.
    this.arm(now + Math.min(limits.totalTimeoutMs, limits.connectTimeoutMs, limits.idleTimeoutMs));
    return lifetime;
  }

  release(lifetime: WatchedLifetime): void {
    this.#open.delete(lifetime);
    this.#unwatch(lifetime);
    if (this.#open.size > 0) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerDueAt = Infinity;
  }

  /** Makes sure that everything is looked at by then. */
  arm(dueAt: number): void {
    if (dueAt >= this.#timerDueAt || dueAt === Infinity) return;
    this.#cancelTimer?.();
    this.#timerDueAt = dueAt;
    this.#cancelTimer = this.#clock.schedule(Math.max(1, Math.ceil(dueAt - this.#clock.now())), this.#tick);
  }

  #watch(signal: AbortSignal, lifetime: WatchedLifetime): void {
    let watch = this.#watchOf(signal);
    if (watch === undefined) {
      watch = new SignalWatch(signal);
      this.#watches.add(watch);
    }
    watch.add(lifetime);
    lifetime.watch = watch;
  }

  #unwatch(lifetime: WatchedLifetime): void {
    const { watch } = lifetime;
    if (watch === undefined) return;
    lifetime.watch = undefined;
    watch.remove(lifetime);
    if (watch.isEmpty) this.#watches.delete(watch);
  }

  #watchOf(signal: AbortSignal): SignalWatch | undefined {
    let watch = this.#watches.first;
    while (watch !== undefined && watch.signal !== signal) watch = watch.next;
    return watch;
  }

  readonly #tick = (): void => {
    this.#cancelTimer = undefined;
    this.#timerDueAt = Infinity;
    const now = this.#clock.now();
    let next = Infinity;
    const passed: WatchedLifetime[] = [];
    for (const lifetime of this.#open.toArray()) {
      const dueAt = lifetime.dueAt();
      if (dueAt <= now) passed.push(lifetime);
      else if (dueAt < next) next = dueAt;
    }
    for (const lifetime of passed) lifetime.expire(now);
    if (this.#open.size > 0) this.arm(next);
  };
}

class WatchedLifetime implements Lifetime, Linked<WatchedLifetime> {
  next: WatchedLifetime | undefined;
  previous: WatchedLifetime | undefined;
  /** Behind which its signal is heard, when it has one. */
  watch: SignalWatch | undefined;
  readonly limits: LifetimeLimits;
  readonly #clock: Clock;
  readonly #owner: LifetimeOwner;
  readonly #keeper: LifetimeKeeper;
  readonly #totalDueAt: number;
  #phase: "waiting" | "connecting" | "established" | "closed" = "waiting";
  /** When the phase began, or the last sign of life in it. */
  #since: number;
  #isHeld = false;

  constructor(clock: Clock, owner: LifetimeOwner, limits: LifetimeLimits, now: number, keeper: LifetimeKeeper) {
    this.limits = limits;
    this.#clock = clock;
    this.#owner = owner;
    this.#keeper = keeper;
    this.#totalDueAt = now + limits.totalTimeoutMs;
    this.#since = now;
  }

  waiting(): void {
    this.#enter("waiting");
  }

  connecting(): void {
    this.#enter("connecting");
  }

  established(): void {
    this.#enter("established");
  }

  touch(): void {
    this.#since = this.#clock.now();
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    if (this.#phase === "closed" || !this.#isHeld) return;
    this.#isHeld = false;
    if (this.#phase !== "established") return;
    this.touch();
    this.#keeper.arm(this.#phaseDueAt());
  }

  close(): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    this.#keeper.release(this);
  }

  abort(reason: unknown): void {
    if (this.#phase === "closed") return;
    this.close();
    this.#owner.onAbort(reason);
  }

  dueAt(): number {
    return Math.min(this.#totalDueAt, this.#phaseDueAt());
  }

  expire(now: number): void {
    if (this.#phase === "closed") return;
    const inTotal = this.#totalDueAt <= now;
    const phase = inTotal ? "total" : this.#phase === "connecting" ? "connect" : "idle";
    this.close();
    const { connectTimeoutMs, idleTimeoutMs, totalTimeoutMs } = this.limits;
    this.#owner.onDeadline(phase, { connect: connectTimeoutMs, idle: idleTimeoutMs, total: totalTimeoutMs }[phase]);
  }

  #enter(phase: "waiting" | "connecting" | "established"): void {
    if (this.#phase === "closed") return;
    this.#phase = phase;
    this.#since = this.#clock.now();
    // The timer may have been set again meanwhile, for what was due then.
    this.#keeper.arm(this.#phaseDueAt());
  }

  #phaseDueAt(): number {
    if (this.#phase === "connecting") return this.#since + this.limits.connectTimeoutMs;
    if (this.#phase === "established" && !this.#isHeld) return this.#since + this.limits.idleTimeoutMs;
    return Infinity;
  }
}

/** All lifetimes that one signal ends, behind one listener that is there only while one of them is open. */
class SignalWatch implements Linked<SignalWatch> {
  next: SignalWatch | undefined;
  previous: SignalWatch | undefined;
  readonly signal: AbortSignal;
  /** Mostly it is the only one. */
  #first: WatchedLifetime | undefined;
  #others: Set<WatchedLifetime> | undefined;

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  get isEmpty(): boolean {
    return this.#first === undefined && (this.#others === undefined || this.#others.size === 0);
  }

  add(lifetime: WatchedLifetime): void {
    if (!this.isEmpty) {
      this.#others ??= new Set();
      this.#others.add(lifetime);
      return;
    }
    this.#first = lifetime;
    this.signal.addEventListener("abort", this.#onAbort);
  }

  remove(lifetime: WatchedLifetime): void {
    if (this.#first === lifetime) this.#first = undefined;
    else if (this.#others?.delete(lifetime) !== true) return;
    if (this.isEmpty) this.signal.removeEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#first?.abort(this.signal.reason);
    for (const lifetime of this.#others ?? []) lifetime.abort(this.signal.reason);
  };
}
