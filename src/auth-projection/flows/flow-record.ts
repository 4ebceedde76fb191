import { doubled } from "../backoff.js";
import { effectiveRow } from "../decide-overlay.js";
import type { FlowRow, ProjectionTx } from "../ports.js";
import type { FlowNews } from "./decide-flow.js";
import type { FlowsConfig } from "./flows-options.js";
import { Pace } from "./pace.js";
import { pruneFlows } from "./prune-flows.js";

const SAVE_ATTEMPTS = 5;
/** How long a flow waits for the first snapshot of its login. */
const READY_PATIENCE_MS = 5_000;

/** The row of one flow in its store, and the connector's beside it. */
export class FlowRecord<Tx extends ProjectionTx> {
  readonly #config: FlowsConfig<Tx>;
  /** Between attempts. */
  readonly #pace: Pace;
  #isWritten: boolean;
  #isStopped = false;

  constructor(config: FlowsConfig<Tx>, isWritten: boolean) {
    this.#config = config;
    this.#pace = new Pace(config.clock);
    this.#isWritten = isWritten;
  }

  get isWritten(): boolean {
    return this.#isWritten;
  }

  /**
   * Resolves when a snapshot counts in this login, or after five seconds, or when hurried: what the first one shows was there
   * before, and must not pass for what comes of a flow.
   */
  async ready(): Promise<void> {
    this.#pace.later(READY_PATIENCE_MS);
    void this.#config.sync.ready.then(() => this.#pace.hurry());
    await this.#pace.wait();
  }

  /** Ends a wait. */
  hurry(): void {
    this.#pace.hurry();
  }

  /** No row is written any more but one that is being written. */
  stop(): void {
    this.#isStopped = true;
    this.#pace.hurry();
  }

  /** Writes the row for the first time, with the connection that there is. Rejects with what the store rejects with. */
  async open(row: FlowRow): Promise<FlowRow> {
    const { store, clock, login, logins } = this.#config;
    const { accountId } = login;
    const opened = await store.write(async (tx) => {
      await pruneFlows(tx, accountId, clock.now());
      const before = await tx.projections.get(accountId, row.connectorKey);
      const priorConnectionId = before?.state === "connected" ? before.connectionId : undefined;
      const first = { ...row, priorConnectionId };
      if (logins.isCurrent(login)) await tx.flows.put(first);
      return first;
    });
    this.#isWritten = true;
    this.#notify(opened);
    return opened;
  }

  /** A row that can't be written now is written a little later; one that stays behind is resumed, and comes to its end again. */
  async save(row: FlowRow): Promise<void> {
    const { store, login, logins, onTrouble } = this.#config;
    for (let attempt = 1; attempt <= SAVE_ATTEMPTS; attempt += 1) {
      try {
        await store.write(async (tx) => {
          if (logins.isCurrent(login)) await tx.flows.put(row);
        });
        this.#notify(row);
        return;
      } catch (error) {
        if (this.#isStopped) return;
        onTrouble(error);
        this.#pace.later(doubled(attempt, 500, 8_000));
        await this.#pace.wait();
      }
    }
  }

  /** What the connector's row shows, if it counts as connected. Never rejects. */
  async shown(connectorKey: string): Promise<FlowNews | undefined> {
    const { store, login, onTrouble } = this.#config;
    const { accountId } = login;
    try {
      const row = await store.read(async (tx) => {
        const synchronized = await tx.projections.get(accountId, connectorKey);
        return synchronized && effectiveRow(synchronized, await tx.overlays.get(accountId, connectorKey));
      });
      return row?.state === "connected" ? { kind: "shown", connectionId: row.connectionId } : undefined;
    } catch (error) {
      onTrouble(error);
      return undefined;
    }
  }

  #notify(row: FlowRow): void {
    if (this.#isStopped) return;
    try {
      this.#config.onChange(row);
    } catch (error) {
      // It listens, and decides nothing.
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
