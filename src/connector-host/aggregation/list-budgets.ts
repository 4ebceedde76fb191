/** The longest time that a list waits for one connector, however slow that is known to be, unless its own budget is longer. */
const LONGEST_BUDGET_MS = 30_000;
/** How long a list waits for a connector that is known to be silent. */
const SILENT_BUDGET_MS = 1_000;
const GROWTH = 1.5;
const REMEMBERED = 1_024;

/**
 * How long lists wait for connectors that were late before. It holds the late ones only, by key, and at most 1,024.
 *
 * One whose last walk ended without any answer is silent, and not late: nobody knows a time that would be enough for it, and each list
 * would wait in vain. So a list gives it a second, which is plenty for one that is well again. One that takes longer than that
 * is not lost: its walk goes on, and what it brings is announced, kept for the next list, and ends the silence.
 */
export class ListBudgets {
  readonly #lateMs = new Map<string, number>();

  /** How long to wait for the connector, in milliseconds: `budgetMs`, or 1.5 times what it took last when that was longer. */
  of(connectorKey: string, budgetMs: number, isSilent = false): number {
    if (isSilent) return Math.min(budgetMs, SILENT_BUDGET_MS);
    const lastMs = this.#lateMs.get(connectorKey);
    if (lastMs === undefined) return budgetMs;
    return Math.max(budgetMs, Math.min(LONGEST_BUDGET_MS, Math.ceil(lastMs * GROWTH)));
  }

  /** Notes how long a list of the connector took, in milliseconds. One that never came says nothing of the next. */
  note(connectorKey: string, tookMs: number, budgetMs: number): void {
    this.#lateMs.delete(connectorKey);
    if (tookMs <= budgetMs) return;
    this.#lateMs.set(connectorKey, tookMs);
    for (const oldest of this.#lateMs.keys()) {
      if (this.#lateMs.size <= REMEMBERED) break;
      this.#lateMs.delete(oldest);
    }
  }
}
