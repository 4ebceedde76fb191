import {
  AuthorizationFlows,
  effectiveRow,
  FlowClient,
  LoginGuard,
  type ProjectionTx,
  Readiness,
  SnapshotClient,
  SnapshotSync,
  type WallClock,
} from "remote-connector/auth-projection";
import { createMemoryStore, type StoreTx } from "remote-connector/store";

export interface AccountOptions {
  readonly controlBase: string;
  readonly accountId: string;
  /** The session's headers, asked for each request. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** Told what the account may use, whenever that changes. */
  readonly onUsable: (connectorKeys: readonly string[]) => void;
  readonly clock?: WallClock | undefined;
}

/** What one account may use: followed, authorized and taken away. An application with an own store uses that one. */
export class Account {
  readonly sync: SnapshotSync<StoreTx>;
  readonly flows: AuthorizationFlows<StoreTx>;
  readonly #logins: LoginGuard;
  readonly #store = createMemoryStore();
  readonly #clients: readonly { close(): Promise<void> }[];
  readonly #accountId: string;
  readonly #onUsable: AccountOptions["onUsable"];
  /** The connection of each connector that may be used. */
  readonly #usable = new Map<string, string>();

  constructor({ controlBase, accountId, headers, onUsable, clock }: AccountOptions) {
    this.#accountId = accountId;
    this.#onUsable = onUsable;
    const logins = new LoginGuard({ authorize: headers });
    const login = logins.signIn(accountId);
    const source = new SnapshotClient({ controlBase, login, logins });
    const sessions = new FlowClient({ controlBase, login, logins });
    const store = this.#store;
    this.#logins = logins;
    this.#clients = [source, sessions];
    this.sync = new SnapshotSync<StoreTx>({
      login,
      logins,
      source,
      store,
      clock,
      scopeEpoch: crypto.randomUUID(),
      readiness: new Readiness(),
      onChanged: (tx, keys) => this.#plan(tx, keys),
      onEvent: (event) => {
        if (event.kind === "applied" || event.kind === "confirmed") this.flows.synchronized(event);
      },
    });
    this.flows = new AuthorizationFlows<StoreTx>({
      login,
      logins,
      sessions,
      store,
      clock,
      sync: this.sync,
      convergence: {
        // What is planned is the case here as soon as its transaction is over: there is nothing to wait for.
        published: async (key, connectionId) => ({
          reached: this.#usable.get(key) === connectionId,
          reason: "unusable",
        }),
        withdrawn: async (key) => ({ reached: !this.#usable.has(key), reason: "usable" }),
      },
    });
  }

  /** Everything of the account ends at once; what runs ends soon. */
  async close(): Promise<void> {
    this.#logins.signOut();
    await Promise.all([this.flows.close(), this.sync.close(), ...this.#clients.map((client) => client.close())]);
    await this.#store.close();
  }

  /** Called in the transaction that changed these connectors, after it wrote them. */
  async #plan(tx: ProjectionTx & Pick<StoreTx, "onSettled">, keys: readonly string[]): Promise<void> {
    const found: (readonly [key: string, connectionId: string | undefined])[] = [];
    for (const key of keys) {
      const row = await tx.projections.get(this.#accountId, key);
      const counts = row && effectiveRow(row, await tx.overlays.get(this.#accountId, key));
      found.push([key, counts?.state === "connected" ? counts.connectionId : undefined]);
    }
    tx.onSettled((outcome) => {
      if (outcome !== "committed") return;
      for (const [key, connectionId] of found) {
        if (connectionId === undefined) this.#usable.delete(key);
        else this.#usable.set(key, connectionId);
      }
      this.#onUsable([...this.#usable.keys()].sort());
    });
  }
}
