import { ActiveScope } from "./active-scope.js";
import type { Agenda } from "./agenda.js";
import type { Core } from "./core.js";
import { decideDesired, withDesired, type DesiredVerdict } from "./desired.js";
import type { Plan } from "./host-ports.js";
import { onCommit } from "./on-commit.js";
import type { ConvergenceRow, ConvergenceTx, TxOutcome } from "./ports.js";
import { ShutFences } from "./shut-fences.js";

/** A key after planning. */
export interface Planned {
  /** `undefined`: there is nothing of the key, neither facts nor a row. */
  readonly row: ConvergenceRow | undefined;
  /** There are facts of the key. */
  readonly known: boolean;
}

/** A key between the two halves of planning. */
interface Draft extends Planned {
  readonly key: string;
  readonly plan: Plan | undefined;
  readonly verdict: DesiredVerdict;
}

/** What is to be fenced when a transaction ends. */
type Revokes = { readonly key: string; readonly generation: number }[];

/**
 * Keys that are queued at once. Their runs may wait for nothing, and would hold the event loop until the last of them has ended;
 * beyond this a sweep queues them, which lets everyone else have their turn.
 */
const MAX_AT_ONCE = 512;

/** Turns facts into what is desired, inside the transaction that changed the facts. */
export class Planning<Tx extends ConvergenceTx, Facts> {
  readonly #core: Core<Tx, Facts>;
  readonly #agenda: Agenda<Tx, Facts>;
  /** Only those whose reason was rolled back: after a commit something newer is desired, which they don't reach. */
  readonly #fencedWhileShut = new ShutFences();

  constructor(core: Core<Tx, Facts>, agenda: Agenda<Tx, Facts>) {
    this.#core = core;
    this.#agenda = agenda;
  }

  /**
   * Plans keys. What is revoked is fenced when the transaction has ended, whichever way. `then`: whether keys that are due
   * after the commit are queued by this, or the caller goes on with them.
   */
  async plan(tx: Tx, scope: string, keys: Iterable<string>, then: "enqueue" | "run"): Promise<readonly Planned[]> {
    const revokes: Revokes = [];
    // Registered first: fences come before anyone is told of what was planned.
    tx.onSettled((outcome) => this.#fenceAll(scope, revokes, outcome));
    const drafts: Draft[] = [];
    // All revokes are known before the first write: a disk that is full must not keep one of them from its fence.
    for (const key of new Set(keys)) drafts.push(await this.#draft(tx, scope, key, revokes));
    const planned: Planned[] = [];
    for (const draft of drafts) planned.push(await this.#write(tx, scope, draft));
    // After a rollback the facts are the old ones, and would bring back at once what was just revoked.
    if (then === "enqueue") onCommit(tx, () => this.#enqueue(scope, planned));
    return planned;
  }

  /** A scope that begins an epoch: what was fenced while it was shut is fenced in it. */
  openScope(scope: string, epoch: string): ActiveScope {
    const active = new ActiveScope(scope, epoch, this.#fencedWhileShut.droppedUpTo);
    for (const [key, generation] of this.#fencedWhileShut.take(scope)) active.key(key).fence(generation);
    return active;
  }

  /** Fences what could not even be planned, as if its transaction had been rolled back after that, unless it is fenced. */
  revoke(scope: string, key: string, generation: number): void {
    const fencedAt = this.#core.scopes.get(scope)?.fencedAt(key) ?? 0;
    if (fencedAt < generation) this.#fence(scope, key, generation, false);
  }

  async #draft(tx: Tx, scope: string, key: string, revokes: Revokes): Promise<Draft> {
    const row = await tx.convergence.get(scope, key);
    const facts = await this.#core.planner.facts(tx, scope, key);
    const plan = facts === undefined ? planForUnknown(row) : this.#core.planner.plan(facts, row?.desired);
    const fencedAt = this.#core.scopes.get(scope)?.fencedAt(key);
    const verdict: DesiredVerdict = plan === undefined ? { kind: "keep" } : decideDesired(row?.desired, plan, fencedAt);
    const revoked = verdict.kind === "replace" ? verdict.revokes : undefined;
    if (revoked !== undefined) revokes.push({ key, generation: revoked });
    return { key, row, known: facts !== undefined, plan, verdict };
  }

  async #write(tx: Tx, scope: string, draft: Draft): Promise<Planned> {
    const { key, known, plan, verdict } = draft;
    if (verdict.kind === "keep" || plan === undefined) return draft;
    const generation = await tx.convergence.nextGeneration();
    const desired = { generation, enabled: plan.enabled, identity: plan.identity };
    const now = this.#core.clock.now();
    const row = withDesired(draft.row, { scope, key, desired, fresh: verdict.fresh, now });
    await tx.convergence.put(row);
    await this.#core.events.record(tx, { kind: "planned", scope, key, ...desired, revokes: verdict.revokes });
    onCommit(tx, () => this.#abortRun(scope, key, generation - 1));
    return { row, known };
  }

  #enqueue(scope: string, planned: readonly Planned[]): void {
    const active = this.#core.scopes.get(scope);
    if (active === undefined) return;
    if (planned.length > MAX_AT_ONCE) {
      this.#agenda.add({ kind: "sweep", active }, true);
      return;
    }
    for (const { row, known } of planned) if (row !== undefined) this.#agenda.consider(active, row, known);
  }

  #fenceAll(scope: string, revokes: Revokes, outcome: TxOutcome): void {
    for (const { key, generation } of revokes) this.#fence(scope, key, generation, outcome === "committed");
  }

  #fence(scope: string, key: string, generation: number, committed: boolean): void {
    const { routes, scopes, events } = this.#core;
    try {
      routes.fence(scope, key, generation);
    } catch (error) {
      // The others are fenced all the same.
      events.notify({ kind: "trouble", scope, key, error });
    }
    const active = scopes.get(scope);
    if (active !== undefined) {
      const state = active.key(key);
      state.fence(generation);
      state.endStarting();
      if (!committed) this.#agenda.planAfterRollback(active, key);
    } else if (!committed) this.#fencedWhileShut.raise(scope, key, generation);
    this.#abortRun(scope, key, generation);
    events.notify({ kind: "fenced", scope, key, generation, committed });
  }

  /** Tells the key's run to end if it works on `upTo` or something older. */
  #abortRun(scope: string, key: string, upTo: number): void {
    const phase = this.#core.scopes.get(scope)?.find(key)?.phase;
    if (phase?.kind === "running" && phase.generation <= upTo) this.#agenda.abort(scope, key, "superseded");
  }
}

/** A key of which nothing is known any more is disabled. */
function planForUnknown(row: ConvergenceRow | undefined): Plan | undefined {
  return row === undefined ? undefined : { enabled: false, identity: row.desired.identity, transition: "revoke" };
}
