import type { ActiveScope } from "./active-scope.js";
import type { Agenda } from "./agenda.js";
import type { Core } from "./core.js";
import type { RouteToken, RunOutcome } from "./host-ports.js";
import { trustedSchedule } from "./failure-budget.js";
import { describeError } from "./last-error.js";
import { onCommit } from "./on-commit.js";
import type { Outcomes } from "./outcomes.js";
import type { ConvergenceRow, ConvergenceTx } from "./ports.js";

/** Writes down that a route is gone by itself, without waiting for a run of its key. */
export class Exits<Tx extends ConvergenceTx, Facts> {
  readonly #core: Core<Tx, Facts>;
  readonly #agenda: Agenda<Tx, Facts>;
  readonly #outcomes: Outcomes<Tx, Facts>;

  constructor(core: Core<Tx, Facts>, agenda: Agenda<Tx, Facts>, outcomes: Outcomes<Tx, Facts>) {
    this.#core = core;
    this.#agenda = agenda;
    this.#outcomes = outcomes;
  }

  async run(active: ActiveScope, token: RouteToken, error: unknown): Promise<void> {
    if (!this.#agenda.isCurrent(active)) return;
    try {
      await this.#core.store.write((tx) => this.#write(tx, active, token, error));
    } catch (cause) {
      this.#agenda.trouble({ kind: "exit", active, token, error }, cause);
    }
  }

  async #write(tx: Tx, active: ActiveScope, token: RouteToken, error: unknown): Promise<void> {
    // The transaction may have waited for its turn while the scope was shut.
    if (!this.#agenda.isCurrent(active)) return;
    const { scope, key, generation, epoch } = token;
    const row = await tx.convergence.get(scope, key);
    if (row === undefined) return;
    if (row.observed?.generation === generation && row.observed.epoch === epoch) {
      const cause = error === undefined ? undefined : describeError(error);
      await this.#core.events.record(tx, { kind: "lost", scope, key, generation, error: cause });
      await this.#clear(tx, active, row, error);
      return;
    }
    const phase = active.find(key)?.phase;
    if (phase === undefined || phase.kind === "resting" || phase.generation !== generation) return;
    // Lost before it was observed: the key's next run writes that down, after the one that is under way.
    onCommit(tx, () => {
      const outcome: RunOutcome = error === undefined ? { kind: "requeue", afterMs: 0 } : { kind: "fault", error };
      active.key(key).report = { generation, outcome };
      this.#agenda.add({ kind: "key", active, key }, true);
    });
  }

  /** Only the loss of what is desired now is a failure of the key. */
  async #clear(tx: Tx, active: ActiveScope, row: ConvergenceRow, error: unknown): Promise<void> {
    if (error !== undefined && row.observed?.generation === row.desired.generation) {
      await this.#outcomes.writeLoss(tx, active, row, error);
      return;
    }
    const now = this.#core.clock.now();
    const next = { ...row, ...trustedSchedule(row, now), observed: undefined, updatedAt: now };
    await tx.convergence.put(next);
    onCommit(tx, () => this.#agenda.consider(active, next, true));
  }
}
