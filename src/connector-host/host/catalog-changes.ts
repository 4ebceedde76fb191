import type { WallClock } from "../../auth-projection/index.js";
import { type CatalogEntry, type ConnectorCatalog, scopeKindOf, writeSwitch } from "../catalog/index.js";
import { DEVICE_SCOPE } from "./account-scope.js";
import { unknownConnector } from "./host-errors.js";
import type { HostStore, HostTx } from "./host-store.js";

export interface CatalogChangesOptions {
  readonly catalog: ConnectorCatalog;
  readonly store: HostStore;
  readonly clock: WallClock;
  /** The scope of the account that is signed in, if there is one. Those of others are planned when they begin. */
  readonly accountScope: () => string | undefined;
  readonly planInTx: (tx: HostTx, scope: string, keys: readonly string[]) => Promise<void>;
  /** Asks the control plane for the account's authorization: it may say something else of other releases. */
  readonly refetch: () => void;
  /** Ends what is published of a connector, at once. */
  readonly withdraw: (key: string) => void;
}

/** One change of a connector: what it becomes, and how that is kept. */
export interface CatalogChange<Next extends CatalogEntry | undefined> {
  /** `undefined` takes the connector away. What it throws rejects the change, and nothing was changed then. */
  readonly decide: (before: CatalogEntry | undefined) => Next;
  readonly keep: (tx: HostTx, next: Next, now: number) => Promise<void>;
}

/** Changes what there is to connect: each is kept, seen by readers, and planned in one transaction. */
export class CatalogChanges {
  readonly #options: CatalogChangesOptions;
  /** The last switch that was asked for, by connector, while it is being kept. */
  readonly #switching = new Map<string, symbol>();

  constructor(options: CatalogChangesOptions) {
    this.#options = options;
  }

  /** Rejects with what `decide` throws and with what the store rejects with; nothing was changed then. */
  apply<Next extends CatalogEntry | undefined>(key: string, { decide, keep }: CatalogChange<Next>): Promise<void> {
    const { catalog, store, clock } = this.#options;
    return store.write(async (tx) => {
      const before = catalog.get(key);
      const next = decide(before);
      if (next === before) return;
      // In one step with the decision: a switch may be turned off while anything is awaited.
      this.#setInTx(tx, key, next, (present) => before && { ...before, isOn: before.isOn && present.isOn });
      await keep(tx, next, clock.now());
      await this.#plan(tx, next ?? before);
    });
  }

  /**
   * Turns a connector's switch. Off takes effect at once, whatever the store does: when this rejects, it is off in this process,
   * and was not kept. Rejects with `unknown_connector`, and with what the store rejects with.
   */
  async setSwitch(key: string, isOn: boolean): Promise<void> {
    const { catalog, store, clock, withdraw } = this.#options;
    const entry = catalog.get(key);
    if (entry === undefined) throw unknownConnector(key);
    const turn = Symbol(key);
    this.#switching.set(key, turn);
    if (!isOn) {
      catalog.set(key, { ...entry, isOn });
      withdraw(key);
    }
    try {
      await store.write(async (tx) => {
        const present = catalog.get(key);
        // Of several that were asked for meanwhile, the last one counts.
        if (present === undefined || this.#switching.get(key) !== turn) return;
        if (isOn && !present.isOn)
          this.#setInTx(tx, key, { ...present, isOn }, (changed) => ({ ...changed, isOn: false }));
        await writeSwitch(tx, key, isOn, clock.now());
        await this.#plan(tx, present);
      });
    } finally {
      if (this.#switching.get(key) === turn) this.#switching.delete(key);
    }
  }

  /** Whatever has the key next is switched on. Rejects with what the store rejects with. */
  forgetSwitch(key: string): Promise<void> {
    const { store, clock } = this.#options;
    return store.write((tx) => writeSwitch(tx, key, true, clock.now()));
  }

  /** Plans a connector whose definition was changed elsewhere. Rejects with what the store rejects with. */
  plan(entry: CatalogEntry): Promise<void> {
    return this.#options.store.write((tx) => this.#plan(tx, entry));
  }

  /**
   * Readers see it from now on, so that it is planned with; and no more if the transaction is rolled back: `undo` says what is there
   * then in the place of what has become of it.
   */
  #setInTx(
    tx: HostTx,
    key: string,
    next: CatalogEntry | undefined,
    undo: (present: CatalogEntry) => CatalogEntry | undefined,
  ): void {
    const { catalog } = this.#options;
    const before = catalog.get(key);
    tx.onSettled((outcome) => {
      if (outcome === "committed") return;
      const present = catalog.get(key);
      if (present === next) catalog.set(key, before);
      else if (present !== undefined) catalog.set(key, undo(present));
    });
    catalog.set(key, next);
  }

  async #plan(tx: HostTx, entry: CatalogEntry | undefined): Promise<void> {
    if (entry === undefined) return;
    const { accountScope, planInTx, refetch } = this.#options;
    const isOfDevice = scopeKindOf(entry) === "device";
    const scope = isOfDevice ? DEVICE_SCOPE : accountScope();
    if (scope === undefined) return;
    await planInTx(tx, scope, [entry.key]);
    if (isOfDevice) return;
    tx.onSettled((outcome) => {
      if (outcome === "committed") refetch();
    });
  }
}
