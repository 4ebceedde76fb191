import {
  AuthorizationFlows,
  FlowClient,
  type FlowConvergence,
  HintListener,
  type Login,
  type LoginGuard,
  type Readiness,
  SnapshotClient,
  SnapshotSync,
  type SyncEvent,
} from "../../auth-projection/index.js";
import { noControlPlane } from "./control-plane.js";
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
  /** Says when a connector's route has followed an authorization. */
  readonly convergence: FlowConvergence;
}

/** What the host does for one login: it follows the account's authorization. It ends by itself when the login does. */
export class AccountSession {
  readonly login: Login;
  readonly scope: string;
  readonly scopeEpoch: string;
  readonly sync: SnapshotSync<HostTx>;
  readonly flows: AuthorizationFlows<HostTx>;
  readonly #client: FlowClient;
  readonly #hints: HintListener | undefined;

  /** Throws `invalid_options` or `invalid_url`. */
  constructor(options: AccountSessionOptions) {
    const { config, store, logins, login, readiness, scope, scopeEpoch, onChanged, onEvent, convergence } = options;
    const { controlPlane, wallClock: clock, random, logger } = config;
    if (controlPlane === undefined) throw noControlPlane();
    const { baseUrl, hintsUrl } = controlPlane;
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
      onEvent: (event) => {
        onEvent(event);
        if (event.kind === "applied" || event.kind === "confirmed") this.flows.synchronized(event);
      },
      clock,
      random,
    });
    this.#client = new FlowClient({ controlBase: baseUrl, login, logins, clock: config.clock });
    this.flows = new AuthorizationFlows<HostTx>({
      login,
      logins,
      sessions: this.#client,
      store,
      sync: this.sync,
      convergence,
      onChange: ({ connectorKey, state, reason, errorCode }) =>
        logger.info("An authorization flow changed.", { connectorKey, state, reason, errorCode }),
      onTrouble: (error) => logger.warn("An authorization flow could not be read or written.", { error }),
      clock,
      random,
    });
    if (hintsUrl === undefined) return;
    this.#hints = new HintListener({ url: hintsUrl, login, logins, onWake: () => this.sync.wake(), clock, random });
  }

  /** Resolves when nothing of it runs any more. */
  async close(): Promise<void> {
    await Promise.all([this.flows.close(), this.sync.close(), this.#hints?.close(), this.#client.close()]);
  }
}
