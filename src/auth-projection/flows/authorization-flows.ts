import { refuseUnknownOptions } from "../../options.js";
import { doubled } from "../backoff.js";
import { isConnectorKey, isIdentifier } from "../identifiers.js";
import type { FlowRow, ProjectionTx } from "../ports.js";
import type { SyncedSnapshot } from "../sync-event.js";
import { isFinished } from "./decide-flow.js";
import { Deferred } from "./deferred.js";
import { Disconnecting, type DisconnectResult } from "./disconnecting.js";
import { flowsClosed, inProgress, loginEnded, noFlow, unusable } from "./flow-errors.js";
import type { AuthorizationStart } from "./flow-outcome.js";
import { FlowRun } from "./flow-run.js";
import { type AuthorizationFlowsOptions, type FlowsConfig, resolveAuthorizationFlowsOptions } from "./flows-options.js";
import { Pace } from "./pace.js";
import { takeSecret } from "./secret.js";

/** What is to be authorized, and how. */
export interface AuthorizeOptions {
  /** The release's. */
  readonly connectorVersion: string;
  /**
   * The secret, where the connector takes one and it is known already: 1 to 16,384 bytes of UTF-8. Bytes are overwritten before
   * the call returns, whatever comes of it; a text can't be.
   */
  readonly secret?: Uint8Array | string | undefined;
  /** Takes the place of a flow of the connector that is under way. Default false: it is refused then. */
  readonly replace?: boolean | undefined;
  /** Ends the waiting with its reason, and the flow with it unless the account has granted it. */
  readonly signal?: AbortSignal | undefined;
}

const START_OPTIONS: readonly (keyof AuthorizeOptions)[] = ["connectorVersion", "replace", "secret", "signal"];
const LONGEST_RELOAD_MS = 60_000;
/** How many attempts to read the rows are waited for: a minute of them. */
const RELOADS_AWAITED = 7;

/**
 * The authorization flows of one login, from its construction until the login ends or `close()`.
 *
 * Every flow is a row before its first request. What an earlier process or login left is gone on with: asked for again under the
 * same id, looked at until it expires, or taken as done when the snapshot shows its connection. One flow at a time for each
 * connector; a disconnect takes the place of one. Secrets and pages are in memory only.
 */
export class AuthorizationFlows<Tx extends ProjectionTx> {
  readonly #config: FlowsConfig<Tx>;
  readonly #loginSignal: AbortSignal;
  /** Who is in a connector's lane; the last one, while the one before leaves. */
  readonly #lanes = new Map<string, FlowRun<Tx> | Disconnecting<Tx>>();
  readonly #runs = new Set<FlowRun<Tx>>();
  readonly #disconnects = new Set<Disconnecting<Tx>>();
  readonly #loading: Promise<void>;
  /** Resolves when it is known what an earlier process left. Rejects when that can't be read for a minute; then it is a new one. */
  #known = new Deferred<void>();
  readonly #loadPace: Pace;
  #stopped: ((connectorKey: string) => unknown) | undefined;

  /** Throws `invalid_options` for an unknown option. A login that has ended makes closed flows. */
  constructor(options: AuthorizationFlowsOptions<Tx>) {
    this.#config = resolveAuthorizationFlowsOptions(options);
    const { login, logins, clock } = this.#config;
    this.#loadPace = new Pace(clock);
    this.#loginSignal = logins.signalOf(login);
    this.#loginSignal.addEventListener("abort", this.#onLoginEnd);
    if (this.#loginSignal.aborted) this.#onLoginEnd();
    this.#loading = this.#load();
  }

  /**
   * Begins to authorize a connector. Resolves with the first answer of the control plane: what the person has to do, and a
   * promise of the result.
   *
   * Rejects with `invalid_argument`; `authorization_in_progress`; what the store rejects with, and then nothing was sent; what the
   * control plane refused it with (`control_plane_error`, `account_not_ready`, `invalid_session`, `redirect_refused`), or the
   * failure to reach it after a minute; `authorization_failed` when its session has failed already, or when it was cancelled,
   * replaced or disconnected meanwhile; `login_ended`; `cancelled`; and the reason of `signal`.
   */
  async start(connectorKey: string, options: AuthorizeOptions): Promise<AuthorizationStart> {
    const { secret: given, connectorVersion, replace = false, signal } = options;
    const secret = given === undefined ? undefined : takeSecret(given);
    try {
      refuseUnknownOptions(options, START_OPTIONS);
      if (!isConnectorKey(connectorKey)) throw unusable("connectorKey");
      if (!isIdentifier(connectorVersion)) throw unusable("connectorVersion");
      await this.#enter(connectorKey, signal);
      signal?.throwIfAborted();
      const predecessor = this.#lanes.get(connectorKey);
      if (predecessor !== undefined && !replace) throw inProgress(connectorKey, predecessor.clientRequestId);
      const row = this.#newRow(connectorKey, connectorVersion, replace);
      const run = this.#add(new FlowRun({ config: this.#config, row, isResumed: false, secret, predecessor }));
      leaveOnAbort(run, signal);
      return await run.outcome.start;
    } catch (error) {
      secret?.wipe();
      throw error;
    }
  }

  /**
   * Gives the secret that a flow of the connector waits for. Bytes are overwritten before the call returns. Resolves when the
   * control plane has taken it.
   *
   * Rejects with `invalid_argument` when no flow waits for one or it can't be used; with what the store rejects with, when it can't be
   * known whether one waits; and with what the control plane refused it with: the flow has failed then. A secret whose answer was
   * lost is not sent again: the promise settles when that is known.
   */
  async submitSecret(connectorKey: string, given: Uint8Array | string): Promise<void> {
    const secret = takeSecret(given);
    try {
      await this.#enter(connectorKey);
      const holder = this.#lanes.get(connectorKey);
      if (!(holder instanceof FlowRun) || !holder.wantsSecret) throw noFlow();
      await holder.submit(secret);
    } finally {
      secret.wipe();
    }
  }

  /**
   * Gives up the flow of a connector, and resolves when its session was ended or left to end by itself. Does nothing when there is
   * none, or when the account has granted it already.
   */
  async cancel(connectorKey: string): Promise<void> {
    await this.#enter(connectorKey);
    const holder = this.#lanes.get(connectorKey);
    if (!(holder instanceof FlowRun) || holder.row.state === "authorized") return;
    holder.cancel("cancelled");
    await holder.ended;
  }

  /**
   * Takes the account's authorization of a connector away: asks the control plane, lowers the local row at once, and resolves when
   * the connector was seen disabled, or two minutes later. A flow of the connector ends. Two at the same time are one.
   *
   * Rejects with what the control plane refused it with, the failure to reach it after a minute, what the store rejects with,
   * `login_ended`, and `cancelled`.
   */
  async disconnect(connectorKey: string): Promise<DisconnectResult> {
    if (!isConnectorKey(connectorKey)) throw unusable("connectorKey");
    await this.#enter(connectorKey);
    const holder = this.#lanes.get(connectorKey);
    if (holder instanceof Disconnecting) return holder.result;
    const disconnecting = new Disconnecting(this.#config, connectorKey, holder);
    this.#lanes.set(connectorKey, disconnecting);
    this.#disconnects.add(disconnecting);
    void disconnecting.ended.then(() => this.#leave(connectorKey, disconnecting));
    void disconnecting.settled.then(() => this.#disconnects.delete(disconnecting));
    return disconnecting.result;
  }

  /** The account's flows, the latest first; those that are over for 24 hours. Rejects with what the store rejects with. */
  async list(): Promise<readonly FlowRow[]> {
    const { store, login } = this.#config;
    const rows = await store.read((tx) => tx.flows.list(login.accountId));
    return [...rows].sort((a, b) => b.createdAt - a.createdAt);
  }

  /** To be called with each `applied` and `confirmed` of the sync: the snapshot may show what a flow waits for. */
  synchronized({ syncSeq }: Pick<SyncedSnapshot, "syncSeq">): void {
    for (const run of this.#runs) run.look(syncSeq);
  }

  /** Ends the work on all flows, and resolves when none runs. Their rows stay as they are, to be gone on with. Idempotent. */
  async close(): Promise<void> {
    this.#stop(flowsClosed);
    await this.#loading;
    await Promise.all(Array.from(this.#runs, (run) => run.ended));
    await Promise.all(Array.from(this.#disconnects, ({ settled }) => settled));
  }

  /**
   * Waits until what an earlier process left is known. Rejects when the flows were stopped, with the signal's reason, and with
   * what the store rejects with.
   */
  async #enter(connectorKey: string, signal?: AbortSignal): Promise<void> {
    await unlessAborted(this.#known.promise, signal);
    if (this.#stopped !== undefined) throw this.#stopped(connectorKey);
  }

  /** Goes on with what is not over. Never rejects: a store that fails is asked again. */
  async #load(): Promise<void> {
    const { store, login, onTrouble } = this.#config;
    for (let attempt = 1; this.#stopped === undefined; attempt += 1) {
      try {
        const rows = await store.read((tx) => tx.flows.list(login.accountId));
        if (this.#stopped === undefined) this.#resume(rows.filter((row) => !isFinished(row)));
        break;
      } catch (error) {
        onTrouble(error);
        if (attempt === RELOADS_AWAITED) this.#known.reject(error);
        this.#loadPace.later(doubled(attempt, 1_000, LONGEST_RELOAD_MS));
        await this.#loadPace.wait();
      }
    }
    if (this.#known.isSettled) this.#known = new Deferred<void>();
    this.#known.resolve();
  }

  #resume(rows: readonly FlowRow[]): void {
    for (const row of [...rows].sort((a, b) => a.createdAt - b.createdAt)) {
      const older = this.#lanes.get(row.connectorKey);
      this.#add(new FlowRun({ config: this.#config, row, isResumed: true, secret: undefined, predecessor: older }));
    }
  }

  #add(run: FlowRun<Tx>): FlowRun<Tx> {
    const { connectorKey } = run.row;
    this.#lanes.set(connectorKey, run);
    this.#runs.add(run);
    void run.ended.then(() => this.#leave(connectorKey, run));
    void run.settled.then(() => this.#runs.delete(run));
    return run;
  }

  #leave(connectorKey: string, holder: FlowRun<Tx> | Disconnecting<Tx>): void {
    if (this.#lanes.get(connectorKey) === holder) this.#lanes.delete(connectorKey);
  }

  #newRow(connectorKey: string, connectorVersion: string, replaces: boolean): FlowRow {
    const { clock, login, mintRequestId } = this.#config;
    const now = clock.now();
    return {
      accountId: login.accountId,
      clientRequestId: mintRequestId(),
      connectorKey,
      connectorVersion,
      replaces,
      priorConnectionId: undefined,
      sessionId: undefined,
      nextAction: undefined,
      state: "starting",
      connectionId: undefined,
      reason: undefined,
      errorCode: undefined,
      createdAt: now,
      updatedAt: now,
    };
  }

  readonly #onLoginEnd = (): void => this.#stop(loginEnded);

  #stop(reason: (connectorKey: string) => unknown): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = reason;
    this.#loginSignal.removeEventListener("abort", this.#onLoginEnd);
    this.#loadPace.hurry();
    for (const run of this.#runs) run.stop(reason(run.row.connectorKey));
    for (const disconnecting of this.#disconnects) disconnecting.stop(reason(disconnecting.connectorKey));
  }
}

/** A signal that fires ends the waiting for the flow, and the flow. */
function leaveOnAbort<Tx extends ProjectionTx>(run: FlowRun<Tx>, signal: AbortSignal | undefined): void {
  if (signal === undefined) return;
  const leave = (): void => {
    run.outcome.leave(signal.reason);
    run.cancel("cancelled");
  };
  signal.addEventListener("abort", leave);
  void run.outcome.over.then(() => signal.removeEventListener("abort", leave));
}

/** Waits for a promise, unless the signal fires first: then with its reason. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  const aborted = new Deferred<void>();
  const leave = (): void => aborted.reject(signal?.reason);
  signal?.addEventListener("abort", leave);
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}
