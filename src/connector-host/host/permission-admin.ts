import type { WallClock } from "../../auth-projection/index.js";
import { type CatalogEntry, type ConnectorCatalog, writeRules } from "../catalog/index.js";
import {
  assertRuleChange,
  boundedRules,
  changeRules,
  type PermissionRules,
  type RuleChange,
} from "../registration/index.js";
import { unknownConnector } from "./host-errors.js";
import type { HostStore, HostTx } from "./host-store.js";
import { REGISTERED, type RegistrationAdmin } from "./registration-admin.js";
import type { RuleBook } from "./rule-book.js";

export interface PermissionAdminOptions {
  readonly catalog: ConnectorCatalog;
  readonly book: RuleBook;
  readonly registrations: RegistrationAdmin;
  readonly store: HostStore;
  readonly clock: WallClock;
}

/** What people decide about the tools of connectors. */
export class PermissionAdmin {
  readonly #options: PermissionAdminOptions;

  constructor(options: PermissionAdminOptions) {
    this.#options = options;
  }

  /** Throws `unknown_connector`. */
  of(key: string): PermissionRules {
    const { newTools, permissions } = this.#options.book.rulesOf(key) ?? fail(key);
    return { newTools, permissions };
  }

  /**
   * Decides. What permits less is in effect before this returns, and stays so in this process when it can't be kept; what permits more
   * is in effect once it is kept. No route is touched: a call that was sent finishes, one that was not is refused.
   *
   * Rejects with `unknown_connector`, with `invalid_argument`, and with what the place where it is kept rejects with.
   */
  async change(key: string, change: RuleChange): Promise<void> {
    assertRuleChange(change);
    const { book, registrations } = this.#options;
    const entry = this.#present(key);
    boundedRules(changeRules(this.of(key), change));
    const turn = book.begin(entry, change);
    if (entry.place === REGISTERED) await registrations.changePermissions(key, change);
    else await this.#keep(key, change);
    book.settle(key, change, turn);
  }

  /** Nothing is decided of a connector any more, once this is kept: it is gone, or another has its key. */
  async forgetInTx(tx: HostTx, key: string): Promise<void> {
    const { book, clock } = this.#options;
    await writeRules(tx, key, undefined, clock.now());
    onCommit(tx, () => book.setOverride(key, undefined));
  }

  async #keep(key: string, change: RuleChange): Promise<void> {
    const { book, clock, store } = this.#options;
    await store.write(async (tx) => {
      const override = book.overrideOf(this.#present(key));
      const rules = { ...boundedRules(changeRules(override, change)), subject: override.subject };
      await writeRules(tx, key, rules, clock.now());
      onCommit(tx, () => book.setOverride(key, rules));
    });
  }

  #present(key: string): CatalogEntry {
    const entry = this.#options.catalog.get(key);
    return entry === undefined || (entry.kind === "release" && entry.isLeaving) ? fail(key) : entry;
  }
}

function fail(key: string): never {
  throw unknownConnector(key);
}

function onCommit(tx: HostTx, run: () => void): void {
  tx.onSettled((outcome) => {
    if (outcome === "committed") run();
  });
}
