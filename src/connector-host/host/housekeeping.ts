import { forgetAccount, isForgotten, pruneFlows, type WallClock } from "../../auth-projection/index.js";
import { accountOf, accountScope } from "./account-scope.js";
import type { HostLogger } from "./host-logger.js";
import type { HostStore, HostTx } from "./host-store.js";

const INTERVAL_MS = 60 * 60_000;

export interface HousekeepingOptions {
  readonly store: HostStore;
  readonly clock: WallClock;
  /** Whether a scope is active: nothing of it is touched. Asked synchronously, inside transactions. */
  readonly isActive: (scope: string) => boolean;
  /** Removes what was planned for an account, and says so, inside the caller's transaction. */
  readonly forgetScope: (tx: HostTx, scope: string) => Promise<void>;
  readonly logger: HostLogger;
}

/**
 * Removes rows that nobody comes back to: those of accounts that were not seen for long, and of the others the authorization
 * flows that are over. At once, and then every hour; each account in a transaction of its own. A store that fails is looked at
 * again the next time.
 */
export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #cancel: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  /** Begins. Returns before anything was done. */
  start(): void {
    this.#running = this.#round();
  }

  /** Resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#running;
  }

  /** Never rejects. */
  async #round(): Promise<void> {
    const { clock, logger } = this.#options;
    try {
      const removed = await this.#tidyUp(clock.now());
      if (removed > 0) logger.info("Accounts that were not seen for long were forgotten.", { accounts: removed });
    } catch (error) {
      logger.warn("Old rows could not be removed.", { error });
    }
    if (this.#isClosed) return;
    this.#cancel = clock.schedule(INTERVAL_MS, () => this.start());
  }

  /** Answers how many accounts were forgotten. */
  async #tidyUp(now: number): Promise<number> {
    const { store } = this.#options;
    const { abandoned, withFlows } = await store.read((tx) => survey(tx, now));
    let removed = 0;
    for (const accountId of abandoned) {
      if (this.#isClosed) return removed;
      if (await this.#remove(accountId, now)) removed += 1;
    }
    for (const accountId of withFlows) {
      if (this.#isClosed) return removed;
      await store.write((tx) => pruneFlows(tx, accountId, now));
    }
    return removed;
  }

  /** Answers whether the account's rows are gone. */
  async #remove(accountId: string, now: number): Promise<boolean> {
    const { store, isActive, forgetScope } = this.#options;
    const scope = accountScope(accountId);
    if (isActive(scope)) return false;
    try {
      return await store.write(async (tx) => {
        if (!(await isAbandoned(tx, accountId, now))) return false;
        await forgetAccount(tx, accountId);
        await forgetScope(tx, scope);
        // It may have signed in while this went on: then nothing was removed.
        if (isActive(scope)) throw CAME_BACK;
        return true;
      });
    } catch (error) {
      if (error === CAME_BACK) return false;
      throw error;
    }
  }
}

/** Rolls a removal back. Nobody sees it. */
const CAME_BACK = new Error("The account has signed in.");

/** What there is to look at. */
interface Survey {
  /** Accounts that were not seen for long. */
  readonly abandoned: readonly string[];
  /** The others that have authorization flows. */
  readonly withFlows: readonly string[];
}

async function survey(tx: HostTx, now: number): Promise<Survey> {
  const abandoned: string[] = [];
  const withFlows: string[] = [];
  const known = new Set<string>();
  for (const account of await tx.projections.listAccounts()) {
    const { accountId } = account;
    known.add(accountId);
    if (isForgotten(account, now)) abandoned.push(accountId);
    else if ((await tx.flows.list(accountId)).length > 0) withFlows.push(accountId);
  }
  for (const scope of await tx.convergence.listScopes()) {
    const accountId = accountOf(scope);
    if (accountId === undefined || known.has(accountId)) continue;
    if (await isAbandoned(tx, accountId, now)) abandoned.push(accountId);
  }
  return { abandoned, withFlows };
}

/** An account whose first fetch never began has only what was planned for it, and was seen when that was. */
async function isAbandoned(tx: HostTx, accountId: string, now: number): Promise<boolean> {
  const account = await tx.projections.account(accountId);
  if (account !== undefined) return isForgotten(account, now);
  const rows = await tx.convergence.listScope(accountScope(accountId));
  return rows.every(({ updatedAt }) => isForgotten({ seenAt: updatedAt }, now));
}
