import type { ActiveScope, KeyState } from "./active-scope.js";
import type { Agenda } from "./agenda.js";
import type { Core, Job } from "./core.js";
import type { RunContext, RunOutcome } from "./host-ports.js";
import type { LaneContext } from "./lane-run.js";
import { trustedSchedule } from "./failure-budget.js";
import { onCommit } from "./on-commit.js";
import { mayWrite, type RunRecord } from "./outcome.js";
import type { Outcomes } from "./outcomes.js";
import type { Planning } from "./planning.js";
import type { ConvergenceTx, Desired } from "./ports.js";

/** A run that has begun. */
interface BegunRun extends RunRecord {
  readonly desired: Desired;
  /** There are facts of the key. */
  readonly known: boolean;
}

/** One run of one key: plan, decide, reconcile, write down what came of it. */
export class KeyRuns<Tx extends ConvergenceTx, Facts> {
  readonly #core: Core<Tx, Facts>;
  readonly #agenda: Agenda<Tx, Facts>;
  readonly #planning: Planning<Tx, Facts>;
  readonly #outcomes: Outcomes<Tx, Facts>;

  constructor(
    core: Core<Tx, Facts>,
    agenda: Agenda<Tx, Facts>,
    planning: Planning<Tx, Facts>,
    outcomes: Outcomes<Tx, Facts>,
  ) {
    this.#core = core;
    this.#agenda = agenda;
    this.#planning = planning;
    this.#outcomes = outcomes;
  }

  async run(active: ActiveScope, key: string, lane: LaneContext): Promise<void> {
    if (!this.#agenda.isCurrent(active)) return;
    const job: Job = { kind: "key", active, key };
    const state = active.key(key);
    let begun: BegunRun | undefined;
    try {
      begun = await this.#core.store.write((tx) => this.#begin(tx, active, state, key, lane));
    } catch (error) {
      this.#agenda.trouble(job, error);
      return;
    }
    if (begun === undefined) return;
    const begunAt = this.#core.clock.now();
    const outcome = await this.#attempt(begun, lane);
    this.#core.metrics.runEnded(this.#core.clock.now() - begunAt);
    try {
      await this.#end(active, state, begun, outcome);
      state.troubles = 0;
    } catch (error) {
      this.#agenda.trouble(job, error);
    } finally {
      if (isRun(state, begun)) state.setPhase({ kind: "resting" });
    }
  }

  /** A run was told to end and did not. The next run of the key writes that down as its failure. */
  abandon(active: ActiveScope, key: string, error: unknown): void {
    const state = active.find(key);
    if (state?.phase.kind !== "running") return;
    const { generation } = state.phase;
    state.setPhase({ kind: "resting" });
    this.#core.events.notify({ kind: "abandoned", scope: active.scope, key, generation });
    state.report = { generation, outcome: { kind: "fault", error } };
    this.#agenda.add({ kind: "key", active, key }, true);
  }

  /** Plans, and decides whether to go on. What is left of it after the transaction is registered before its end. */
  async #begin(
    tx: Tx,
    active: ActiveScope,
    state: KeyState,
    key: string,
    lane: LaneContext,
  ): Promise<BegunRun | undefined> {
    // The transaction may have waited for its turn while the scope was shut.
    if (!this.#agenda.isCurrent(active)) return undefined;
    const { scope, epoch } = active;
    const [planned] = await this.#planning.plan(tx, scope, [key], "run");
    if (planned?.row === undefined) {
      onCommit(tx, () => active.forget(key));
      return undefined;
    }
    const { row, known } = planned;
    const { report } = state;
    if (report !== undefined) {
      onCommit(tx, () => {
        if (state.report === report) state.report = undefined;
        state.troubles = 0;
      });
      if (report.generation === row.desired.generation) {
        await this.#outcomes.write(tx, active, row, report.outcome, known);
        return undefined;
      }
      onCommit(tx, () => this.#core.events.notify({ kind: "superseded", scope, key, generation: report.generation }));
    }
    const verdict = this.#agenda.judge(active, row);
    if (verdict.kind === "converged" && !known) {
      await this.#outcomes.remove(tx, active, key);
      return undefined;
    }
    if (verdict.kind !== "run") {
      onCommit(tx, () => {
        state.troubles = 0;
        this.#agenda.consider(active, row, known);
      });
      return undefined;
    }
    if (row.desired.enabled && !lane.holdsSlot) {
      onCommit(tx, () => this.#agenda.add({ kind: "key", active, key }));
      return undefined;
    }
    const runToken = await tx.convergence.nextGeneration();
    const now = this.#core.clock.now();
    await tx.convergence.put({ ...row, ...trustedSchedule(row, now), runToken, updatedAt: now });
    const { generation } = row.desired;
    onCommit(tx, () => {
      state.setPhase({ kind: "running", generation, runToken });
      state.endProbing();
    });
    await this.#core.events.record(tx, { kind: "run_started", scope, key, generation, runToken });
    return { scope, key, generation, epoch, runToken, desired: row.desired, known };
  }

  async #attempt(run: BegunRun, lane: LaneContext): Promise<RunOutcome> {
    const { scope, key, generation, epoch, runToken } = run;
    const { enabled, identity } = run.desired;
    const { signal } = lane;
    if (signal.aborted) return { kind: "fault", error: signal.reason };
    const waiting: RunContext["waiting"] = (promise) => lane.waiting(promise);
    try {
      return await this.#core.reconciler.reconcile({
        scope,
        key,
        generation,
        epoch,
        enabled,
        identity,
        runToken,
        signal,
        waiting,
      });
    } catch (error) {
      return { kind: "fault", error };
    }
  }

  async #end(active: ActiveScope, state: KeyState, run: BegunRun, outcome: RunOutcome): Promise<void> {
    const { scope, key, generation } = run;
    await this.#core.store.write(async (tx) => {
      const row = await tx.convergence.get(scope, key);
      const current = this.#agenda.isCurrent(active) && isRun(state, run);
      if (row !== undefined && current && mayWrite(row, run, state.fencedAt)) {
        await this.#outcomes.write(tx, active, row, outcome, run.known);
      } else {
        onCommit(tx, () => this.#core.events.notify({ kind: "superseded", scope, key, generation }));
      }
    });
  }
}

/** Whether the key is in this run, and not abandoned or in a later one. */
function isRun({ phase }: KeyState, run: RunRecord): boolean {
  return phase.kind === "running" && phase.runToken === run.runToken;
}
