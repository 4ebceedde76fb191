import {
  HintListener,
  type Login,
  type LoginGuard,
  type Readiness,
  SnapshotClient,
  SnapshotSync,
  type SyncEvent,
} from "../../auth-projection/index.js";
import type { ConnectorHostConfig } from "./host-options.js";
import type { HostStore, HostTx } from "./host-store.js";

export interface AccountSessionOptions {
  readonly config: ConnectorHostConfig;
  readonly store: HostStore;
  readonly logins: LoginGuard;
  readonly login: Login;
  readonly readiness: Readiness;
  readonly scope: string;
  readonly scopeEpoch: string;
  /** Plans what a snapshot changed, in the transaction that applied it. */
  readonly onChanged: (tx: HostTx, keys: readonly string[]) => Promise<void>;
  readonly onEvent: (event: SyncEvent) => void;
}

/** What the host does for one login: it follows the account's authorization. It ends by itself when the login does. */
export class AccountSession {
  readonly login: Login;
  readonly scope: string;
  readonly scopeEpoch: string;
  readonly sync: SnapshotSync<HostTx>;
  readonly #hints: HintListener | undefined;

  /** Throws `invalid_options` or `invalid_url`. */
  constructor(options: AccountSessionOptions) {
    const { config, store, logins, login, readiness, scope, scopeEpoch, onChanged, onEvent } = options;
    const { baseUrl, hintsUrl, wallClock: clock, random } = config;
    this.login = login;
    this.scope = scope;
    this.scopeEpoch = scopeEpoch;
    this.sync = new SnapshotSync<HostTx>({
      login,
      logins,
      scopeEpoch,
      readiness,
      source: new SnapshotClient({ controlBase: baseUrl, login, logins, clock: config.clock }),
      store,
      onChanged,
      onEvent,
      clock,
      random,
    });
    if (hintsUrl === undefined) return;
    this.#hints = new HintListener({ url: hintsUrl, login, logins, onWake: () => this.sync.wake(), clock, random });
  }

  /** Resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    await Promise.all([this.sync.close(), this.#hints?.close()]);
  }
}
