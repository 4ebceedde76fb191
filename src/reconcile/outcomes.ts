import { RemoteConnectorError } from "../errors.js";
import type { ActiveScope } from "./active-scope.js";
import type { Agenda } from "./agenda.js";
import type { Core } from "./core.js";
import type { TransitionFact } from "./event-facts.js";
import { isParked, type FaultMoment } from "./failure-budget.js";
import type { FaultClass, RunOutcome } from "./host-ports.js";
import { boundedText, describeError } from "./last-error.js";
import { onCommit } from "./on-commit.js";
import { applyOutcome } from "./outcome.js";
import type { ConvergenceRow, ConvergenceTx } from "./ports.js";

/** Writes down what came of a run or of a report, and what follows from it. */
export class Outcomes<Tx extends ConvergenceTx, Facts> {
  readonly #core: Core<Tx, Facts>;
  readonly #agenda: Agenda<Tx, Facts>;

  constructor(core: Core<Tx, Facts>, agenda: Agenda<Tx, Facts>) {
    this.#core = core;
    this.#agenda = agenda;
  }

  /** Writes an outcome for what `row` desires. `known`: there are facts of the key. */
  async write(tx: Tx, active: ActiveScope, row: ConvergenceRow, given: RunOutcome, known: boolean): Promise<void> {
    const { generation, enabled } = row.desired;
    const { outcome, fault } = this.#judge(active, row, given);
    if (outcome.kind === "done" && !enabled && !known) {
      await this.remove(tx, active, row.key);
      return;
    }
    const next = applyOutcome(row, outcome, this.#moment(active), this.#core.config, fault);
    await tx.convergence.put(next);
    onCommit(tx, () => {
      const starting = outcome.kind === "starting";
      active.key(row.key).setPhase(starting ? { kind: "starting", generation } : { kind: "resting" });
    });
    await this.#core.events.record(tx, this.#factOf(next, outcome, fault));
    onCommit(tx, () => this.#agenda.consider(active, next, known));
  }

  /**
   * Writes that the route that `row` desires and observes is gone, with the failure that ended it. A run that replaces it may
   * be under way, and keeps its right to write.
   */
  async writeLoss(tx: Tx, active: ActiveScope, row: ConvergenceRow, error: unknown): Promise<void> {
    const outcome: RunOutcome = { kind: "fault", error };
    const fault = this.#classify(error);
    const lost = applyOutcome(row, outcome, this.#moment(active), this.#core.config, fault);
    const next = { ...lost, runToken: row.runToken };
    await tx.convergence.put(next);
    await this.#core.events.record(tx, this.#factOf(next, outcome, fault));
    onCommit(tx, () => this.#agenda.consider(active, next, true));
  }

  /** Removes the row of a key that nobody knows any more, and of which nothing is left. */
  async remove(tx: Tx, active: ActiveScope, key: string): Promise<void> {
    await tx.convergence.remove(active.scope, key);
    onCommit(tx, () => active.forget(key));
    await this.#core.events.record(tx, { kind: "removed", scope: active.scope, key });
  }

  /**
   * The outcome as it counts. An enabled key is not done without its route: it was lost as soon as it was there, or never was,
   * and trying again without a pause would go round in circles.
   */
  #judge(active: ActiveScope, row: ConvergenceRow, given: RunOutcome): { outcome: RunOutcome; fault: FaultClass } {
    if (given.kind === "fault") return { outcome: given, fault: this.#classify(given.error) };
    const { scope, key, desired } = row;
    const lost = given.kind === "done" && desired.enabled && !this.#core.routes.holds(scope, key, desired.generation);
    if (!lost) return { outcome: given, fault: { counts: false } };
    const state = active.key(key);
    const { report } = state;
    if (report?.generation === desired.generation && report.outcome.kind === "fault") {
      // The same loss, reported while the run ended: it counts once.
      state.report = undefined;
      return { outcome: report.outcome, fault: this.#classify(report.outcome.error) };
    }
    const error = new RemoteConnectorError("cancelled", {
      message: "The route was not there when its run had ended.",
      details: { reason: "route_missing" },
    });
    return { outcome: { kind: "fault", error }, fault: { counts: true } };
  }

  #moment(active: ActiveScope): FaultMoment {
    return { epoch: active.epoch, now: this.#core.clock.now(), random: this.#core.random };
  }

  #classify(error: unknown): FaultClass {
    try {
      return this.#core.reconciler.classifyFault(error);
    } catch {
      return { counts: true };
    }
  }

  #factOf(row: ConvergenceRow, outcome: RunOutcome, fault: FaultClass): TransitionFact {
    const { scope, key } = row;
    const of = { scope, key, generation: row.desired.generation };
    const nextAttemptAt = row.nextAttemptAt ?? row.updatedAt;
    switch (outcome.kind) {
      case "done":
        return { ...of, kind: "observed", readiness: row.desired.enabled ? outcome.readiness : "off" };
      case "starting":
        return { ...of, kind: "starting" };
      case "requeue":
        return { ...of, kind: "requeued", nextAttemptAt };
      case "terminal":
        return { ...of, kind: "terminal", reason: boundedText(outcome.reason) };
      case "fault": {
        const parked = isParked(row, this.#core.config);
        const error = describeError(outcome.error);
        return { ...of, kind: "failed", error, counts: fault.counts, attempts: row.attempts, parked, nextAttemptAt };
      }
    }
  }
}
