/**
 * What the owner of a {@link Controller} gives it: what should be, how to bring it about, and the routes that result.
 */
import type { Desired } from "./ports.js";

/** How a new desired state meets what runs now. `revoke`: everything older ends at once. `supersede`: it may finish. */
export type Transition = "none" | "supersede" | "revoke";

/** What should be, by the facts. */
export interface Plan {
  readonly enabled: boolean;
  /** Opaque here. Whatever makes a new generation necessary when it changes is in it. */
  readonly identity: string;
  /** Only looked at when the plan differs from what is desired. Disabling is always a revoke. */
  readonly transition: Transition;
}

/** Where plans come from. */
export interface Planner<Tx, Facts> {
  /** All keys of the scope of which facts exist. Keys that have only a row need not be among them. */
  keys(tx: Tx, scope: string): Promise<readonly string[]>;
  /**
   * The facts of a key as this transaction sees them; awaits only methods of `tx`. `undefined`: the key is not known (any
   * more); it is disabled, and its row goes when that was observed.
   */
  facts(tx: Tx, scope: string, key: string): Promise<Facts | undefined>;
  /** A pure function of the facts and of what is desired now, if anything is. */
  plan(facts: Facts, desired: Desired | undefined): Plan;
}

/** The routes that exist. Both methods are synchronous, and neither throws. */
export interface Routes {
  /**
   * Ends every route and everything staged of the key whose generation is `generation` or smaller, at once, and refuses
   * them for as long as the scope has its present epoch, or, while it is shut, the next one. Only revokes come this way: what is superseded ends when its successor is published.
   */
  fence(scope: string, key: string, generation: number): void;
  /** Whether the route of exactly this generation, made in the scope's present epoch, is there. */
  holds(scope: string, key: string, generation: number): boolean;
}

/** Names a route, or the work that leads to one, for good: generations never repeat, and epochs tell logins apart. */
export interface RouteToken {
  readonly scope: string;
  readonly key: string;
  readonly generation: number;
  readonly epoch: string;
}

/** What a reconciler is told. */
export interface RunContext extends RouteToken {
  readonly enabled: boolean;
  readonly identity: string;
  /** The number of this run; greater than that of every run before it. */
  readonly runToken: number;
  /** Fires when something newer is desired, the scope was shut, or the run is past its deadline. */
  readonly signal: AbortSignal;
  /**
   * Waits for `promise`, which must not need anything that other runs do. A wait of more than two seconds lets another
   * run work in the meantime; it ends when this one may go on. Rejects with the signal's reason when the signal fires.
   */
  waiting<T>(promise: Promise<T>): Promise<T>;
}

/**
 * How a run ended.
 *
 * - `done`: what is desired is the case. For a disabled key nothing is left of it, and the readiness is not looked at.
 * - `starting`: someone else is at work on it and will report (`Controller.report`, or a `wake` of the key). Nothing is
 *   tried until then.
 * - `requeue`: try again later; nobody's fault.
 * - `terminal`: no use trying again until something else is desired. `reason` is a code, not a text.
 */
export type Outcome =
  | { readonly kind: "done"; readonly readiness: "ready" | "degraded" }
  | { readonly kind: "starting" }
  | { readonly kind: "requeue"; readonly afterMs: number }
  | { readonly kind: "terminal"; readonly reason: string; readonly message?: string | undefined };

/** An {@link Outcome}, or a failure that was caught. */
export type RunOutcome = Outcome | { readonly kind: "fault"; readonly error: unknown };

/** What a failure means for the next try. */
export interface FaultClass {
  /**
   * Whether it counts against the failure budget: the peer's process ended, it answered nonsense, or the fault is ours. What
   * the network and busy servers do does not count.
   */
  readonly counts: boolean;
  /** How long the peer asked to be left alone, in milliseconds. Obeyed, up to a day. */
  readonly retryAfterMs?: number | undefined;
}

/** How what is desired is brought about. */
export interface Reconciler {
  /**
   * Makes one key what it should be. Called again with the same generation after anything that went wrong, so it looks at
   * what is there first. Results that come after the signal fired may be refused.
   */
  reconcile(context: RunContext): Promise<Outcome>;
  /** A pure verdict on what `reconcile` rejected with. */
  classifyFault(error: unknown): FaultClass;
}
