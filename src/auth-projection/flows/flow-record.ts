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
  /** Whether the row says which connection there was before: it began by rows that count. */
  #isPriorKnown: boolean;
  /** Fetches that had started when a grant was first looked for; `undefined` before. */
  #seqAtGrant: number | undefined;
  /** Number of the last fetch that counts. */
  #lastSeq = 0;
  #isStopped = false;

  constructor(config: FlowsConfig<Tx>, isWritten: boolean) {
    this.#config = config;
    this.#pace = new Pace(config.clock);
    this.#isWritten = isWritten;
    this.#isPriorKnown = isWritten;
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
    void this.#config.sync.ready.then((isReady) => {
      // Too late, once the row is written.
      this.#isPriorKnown ||= isReady && !this.#isWritten;
      this.#pace.hurry();
    });
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
      const now = clock.now();
      // It may have waited for who was in the lane before it: its time begins here.
      const first = { ...row, priorConnectionId, createdAt: now, updatedAt: now };
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

  /** A fetch counts; its number, if it was counted. */
  fetched(syncSeq: number | undefined): void {
    this.#lastSeq = syncSeq ?? this.#lastSeq;
  }

  /** What the account's rows show that can be a result of the flow. Never rejects. */
  async shown({ connectorKey, state }: FlowRow): Promise<FlowNews | undefined> {
    const { store, login, onTrouble } = this.#config;
    const { accountId } = login;
    try {
      const [row, syncSeq] = await store.read(async (tx) => {
        const synchronized = await tx.projections.get(accountId, connectorKey);
        const counts = synchronized && effectiveRow(synchronized, await tx.overlays.get(accountId, connectorKey));
        return [counts, (await tx.projections.account(accountId))?.syncSeq ?? 0] as const;
      });
      if (state === "authorized") this.#seqAtGrant ??= syncSeq;
      const isRefetched = this.#seqAtGrant !== undefined && this.#lastSeq > this.#seqAtGrant;
      if (row?.state !== "connected" || !(this.#isPriorKnown || isRefetched)) return undefined;
      return { kind: "shown", connectionId: row.connectionId, isRefetched };
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
