import type { ActiveScope } from "./active-scope.js";
import type { Agenda } from "./agenda.js";
import type { Core, Job } from "./core.js";
import type { LaneContext } from "./lane-run.js";
import type { Planning } from "./planning.js";
import type { ConvergenceTx } from "./ports.js";
import { Turn } from "./turn.js";

/** Keys planned in one transaction: a store that is busy with a large scope must not keep the others waiting. */
const KEYS_PER_TRANSACTION = 64;

/** Looks at every key of a scope, and queues those that are due. */
export class Sweeps<Tx extends ConvergenceTx, Facts> {
  readonly #core: Core<Tx, Facts>;
  readonly #agenda: Agenda<Tx, Facts>;
  readonly #planning: Planning<Tx, Facts>;

  constructor(core: Core<Tx, Facts>, agenda: Agenda<Tx, Facts>, planning: Planning<Tx, Facts>) {
    this.#core = core;
    this.#agenda = agenda;
    this.#planning = planning;
  }

  async run(active: ActiveScope, lane: LaneContext): Promise<void> {
    const job: Job = { kind: "sweep", active };
    const turn = new Turn(this.#core.clock);
    let keys: readonly string[];
    try {
      keys = await this.#core.store.read((tx) => this.#keys(tx, active.scope));
      active.troubles = 0;
    } catch (error) {
      this.#agenda.trouble(job, error);
      return;
    }
    if (active.probingAll) {
      active.probingAll = false;
      for (const key of keys) active.key(key).probing = true;
    }
    const inOrder = from(keys, active.sweptTo);
    for (let start = 0; start < inOrder.length; start += KEYS_PER_TRANSACTION) {
      await turn.yield(lane.signal);
      if (lane.signal.aborted) {
        // Past its deadline it goes on in another run, with those to which it did not come first. The sweep of a scope that was
        // shut does not.
        active.sweptTo = inOrder[start - 1] ?? active.sweptTo;
        this.#agenda.add(job, true);
        return;
      }
      await this.#plan(active, inOrder.slice(start, start + KEYS_PER_TRANSACTION));
    }
    active.sweptTo = undefined;
  }

  /** Keys with facts or a row, each once, sorted. */
  async #keys(tx: Tx, scope: string): Promise<readonly string[]> {
    const known = await this.#core.planner.keys(tx, scope);
    return [...new Set([...known, ...(await tx.convergence.listKeys(scope))])].sort();
  }

  async #plan(active: ActiveScope, keys: readonly string[]): Promise<void> {
    try {
      await this.#core.store.write((tx) => this.#planning.plan(tx, active.scope, keys, "enqueue"));
    } catch (error) {
      this.#core.events.notify({ kind: "trouble", scope: active.scope, key: undefined, error });
      // One key that can't be planned must not keep the others down: each plans by itself in its own run.
      for (const key of keys) this.#agenda.add({ kind: "key", active, key });
    }
  }
}

/** Sorted keys, those behind `key` first. */
function from(keys: readonly string[], key: string | undefined): readonly string[] {
  if (key === undefined) return keys;
  const start = keys.findIndex((each) => each > key);
  return start === -1 ? keys : [...keys.slice(start), ...keys.slice(0, start)];
}
