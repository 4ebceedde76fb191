import { isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import { ClearingTimer } from "./clearing-timer.js";
import type { Observation } from "./decide-overlay.js";
import { clearDueOverlays, writeObservation } from "./overlays.js";
import type { Snapshot } from "./parse-snapshot.js";
import type { ProjectionTx } from "./ports.js";
import { resetProjection } from "./reset-projection.js";
import {
  resolveSnapshotSyncOptions,
  type SnapshotSyncConfig,
  type SnapshotSyncOptions,
} from "./snapshot-sync-options.js";
import { attemptSync, type FailedAttempt, type SettledAttempt } from "./sync-attempt.js";
import { holdDelay, pollDelay, retryDelay, SPACING_MS } from "./sync-delays.js";
import type { SyncEvent, SyncState } from "./sync-event.js";

/** Reasons that wake once for one snapshot. Further ones don't wake: forgetting one of these would wake for it again and again. */
const MAX_SPENT = 10_000;

/** How a wake is limited. */
export interface WakeOptions {
  /**
   * Wakes only the first time that this is given for the snapshot at hand (its epoch and revision). What begins with `sync:`
   * is the sync's own, which no connector key does.
   */
  readonly onceFor?: string | undefined;
}

type Phase =
  /** `urgent`: the fetch is as near as the spacing allows, so that another wake has nothing to add. */
  | { readonly kind: "waiting"; readonly urgent: boolean; readonly nextFetchAt: number; readonly cancel: () => void }
  /** `again`: a wake came after this fetch had begun, which may therefore not have seen its cause. */
  | { readonly kind: "fetching"; readonly controller: AbortController; again: boolean }
  | { readonly kind: "closed" };

/**
 * Keeps one account's projection up to date for one login, from its construction until the login ends or `close()`.
 *
 * It fetches at once, then every five minutes or so, and after every wake. One fetch runs at a time, and no two start
 * within the same second; wakes in between count as one, and a wake during a fetch causes one more after it. A failed
 * fetch is repeated after up to a second, doubling to a minute, with full jitter, and a held snapshot after 20 to 30
 * seconds. A failure changes nothing: rows, readiness and routes stay as they are.
 */
export class SnapshotSync<Tx extends ProjectionTx> {
  /** `true` once a snapshot was applied or confirmed in the scope epoch, `false` if the sync ends before. Never rejects. */
  readonly ready: Promise<boolean>;
  readonly #config: SnapshotSyncConfig<Tx>;
  readonly #loginSignal: AbortSignal;
  #settleReady: (ready: boolean) => void = () => undefined;
  #phase: Phase;
  /** The fetch that runs, or the last one, to the end of its transaction. */
  #running: Promise<void> | undefined;
  #startedAt = -Infinity;
  #status: SyncState["status"] = "starting";
  #failures = 0;
  #error: unknown;
  #synchronizedAt: number | undefined;
  /** The snapshot that counts, and what has woken once already for it. */
  #snapshot: Snapshot | undefined;
  readonly #spent = new Set<string>();
  readonly #clearings: ClearingTimer;

  /** Throws `invalid_options` for an unknown option. A login that has ended makes a closed sync. */
  constructor(options: SnapshotSyncOptions<Tx>) {
    this.#config = resolveSnapshotSyncOptions(options);
    const { login, logins, scopeEpoch, readiness } = this.#config;
    this.ready = new Promise((resolve) => (this.#settleReady = resolve));
    readiness.open(login.accountId, scopeEpoch);
    this.#clearings = new ClearingTimer(this.#config.clock, () => this.#clearDue());
    this.#loginSignal = logins.signalOf(login);
    this.#loginSignal.addEventListener("abort", this.#end);
    this.#phase = this.#waitFor(0, true);
    if (this.#loginSignal.aborted) this.#end();
  }

  /** Where it is now. A copy. */
  state(): SyncState {
    const phase = this.#phase;
    const { login, readiness, scopeEpoch } = this.#config;
    return {
      status: phase.kind === "closed" ? "closed" : this.#status,
      ready: readiness.isReady(login.accountId, scopeEpoch),
      fetching: phase.kind === "fetching",
      failures: this.#failures,
      error: this.#error,
      nextFetchAt: phase.kind === "waiting" ? phase.nextFetchAt : undefined,
      synchronizedAt: this.#synchronizedAt,
    };
  }

  /** Asks for a fetch that starts after this call. Returns at once; does nothing when closed. */
  wake(options: WakeOptions = {}): void {
    const { onceFor } = options;
    if (onceFor !== undefined) {
      if (this.#spent.has(onceFor) || this.#spent.size >= MAX_SPENT) return;
      this.#spent.add(onceFor);
    }
    const phase = this.#phase;
    if (phase.kind === "fetching") {
      phase.again = true;
    } else if (phase.kind === "waiting" && !phase.urgent) {
      phase.cancel();
      this.#phase = this.#waitFor(0, true);
    }
  }

  /**
   * Takes in that a connector's gateway demands an authorization which the snapshot grants: the connector counts as not
   * connected from here on, and is planned in the same transaction; one fetch is woken. An observation that is of another
   * connection than the present one, or comes after the login's end, does nothing. Answers whether it counts. Rejects with
   * what the store or the planner rejects with.
   */
  async observe(observation: Observation): Promise<boolean> {
    const { clock, login, onChanged, store } = this.#config;
    const { accountId } = login;
    const verdict = await store.write(async (tx) =>
      this.#isLive() ? writeObservation(tx, { accountId, observation, now: clock.now(), onChanged }) : undefined,
    );
    if (verdict?.kind === "put") this.wake();
    return verdict?.kind === "put" || verdict?.kind === "keep";
  }

  /** Forgets what the account's snapshots were compared with, so that the next one is applied, and fetches it. */
  async reset(): Promise<void> {
    const { login, store } = this.#config;
    await store.write((tx) => resetProjection(tx, login.accountId));
    this.wake();
  }

  /** Ends the sync; resolves when a transaction that ran has ended too. No event comes any more. Idempotent. */
  async close(): Promise<void> {
    this.#end();
    await this.#running;
    await this.#clearings.settled();
  }

  readonly #end = (): void => {
    const phase = this.#phase;
    if (phase.kind === "closed") return;
    this.#phase = { kind: "closed" };
    this.#clearings.close();
    if (phase.kind === "waiting") phase.cancel();
    else phase.controller.abort(closed());
    this.#loginSignal.removeEventListener("abort", this.#end);
    this.#config.readiness.shut(this.#config.login.accountId, this.#config.scopeEpoch);
    this.#settleReady(false);
  };

  #waitFor(delayMs: number, urgent: boolean): Phase & { kind: "waiting" } {
    const { clock } = this.#config;
    const now = clock.now();
    const sinceStart = now - this.#startedAt;
    // A wall that was set back gives a negative number, and no reason to wait longer than the spacing.
    const spacing = sinceStart < 0 ? SPACING_MS : SPACING_MS - sinceStart;
    const delay = Math.max(delayMs, spacing, 0);
    return { kind: "waiting", urgent, nextFetchAt: now + delay, cancel: clock.schedule(delay, this.#begin) };
  }

  readonly #begin = (): void => {
    const controller = new AbortController();
    this.#startedAt = this.#config.clock.now();
    this.#phase = { kind: "fetching", controller, again: false };
    this.#running = this.#sync(controller.signal);
  };

  /** One fetch and what follows from it. Never rejects. */
  async #sync(signal: AbortSignal): Promise<void> {
    const attempt = await attemptSync(this.#config, signal, this.#isLive);
    const phase = this.#phase;
    if (phase.kind !== "fetching" || attempt.kind === "dropped") return;
    const delayMs = attempt.kind === "failed" ? this.#noteFailure(attempt) : this.#noteVerdict(attempt);
    const becameReady = attempt.kind === "settled" && this.#becomesReady(attempt);
    const next = this.#waitFor(phase.again ? 0 : delayMs, phase.again);
    this.#phase = next;
    if (becameReady) this.#settleReady(true);
    this.#tell(
      attempt.kind === "failed"
        ? this.#failure(attempt, next.nextFetchAt)
        : describe(attempt, becameReady, next.nextFetchAt),
    );
  }

  readonly #isLive = (): boolean => this.#phase.kind !== "closed" && this.#config.logins.isCurrent(this.#config.login);

  /** Takes a failure in, and answers after how long the next fetch is due if nothing wakes it. */
  #noteFailure({ error }: FailedAttempt): number {
    this.#failures += 1;
    this.#error = error;
    this.#status = isRemoteConnectorError(error, "account_not_ready") ? "account_not_ready" : "failing";
    return retryDelay(this.#failures, this.#config.random);
  }

  /** Takes a verdict in, and answers the same. */
  #noteVerdict({ snapshot, outcome }: SettledAttempt): number {
    this.#failures = 0;
    this.#error = undefined;
    if (outcome.verdict.kind === "hold") {
      this.#status = "held";
      return holdDelay(this.#config.random);
    }
    this.#clearings.arm(outcome.nextClearingAt);
    this.#status = "synchronized";
    this.#synchronizedAt = this.#config.clock.now();
    if (this.#snapshot?.epoch !== snapshot.epoch || this.#snapshot.revision !== snapshot.revision) this.#spent.clear();
    this.#snapshot = snapshot;
    if (outcome.diagnostics.some(({ kind }) => kind === "connection_version_decreased")) {
      this.wake({ onceFor: "sync:connection_version_decreased" });
    }
    return pollDelay(this.#config.random);
  }

  /** The timed write of what was recorded. */
  #clearDue(): Promise<number | undefined> {
    const { clock, login, onChanged, store } = this.#config;
    return store.write(async (tx) =>
      this.#isLive() ? clearDueOverlays(tx, login.accountId, clock.now(), onChanged) : undefined,
    );
  }

  #becomesReady({ outcome }: SettledAttempt): boolean {
    const { login, readiness, scopeEpoch } = this.#config;
    return outcome.verdict.kind !== "hold" && readiness.confirm(login.accountId, scopeEpoch);
  }

  #failure(attempt: FailedAttempt, nextFetchAt: number): SyncEvent {
    const { during, error } = attempt;
    const unapplied =
      attempt.during === "apply" && !this.#goesBackwards(attempt.snapshot) ? attempt.snapshot : undefined;
    return { kind: "failed", during, error, unapplied, failures: this.#failures, nextFetchAt };
  }

  /** As far as that is known without the store, which knows of more epochs. */
  #goesBackwards({ epoch, revision }: Snapshot): boolean {
    const known = this.#snapshot;
    return known !== undefined && known.epoch === epoch && revision < known.revision;
  }

  #tell(event: SyncEvent): void {
    try {
      this.#config.onEvent(event);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}

function describe(
  { snapshot, outcome, syncSeq }: SettledAttempt,
  becameReady: boolean,
  nextFetchAt: number,
): SyncEvent {
  const { verdict, changed, diagnostics } = outcome;
  if (verdict.kind === "hold") return { kind: "held", reason: verdict.reason, diagnostics, nextFetchAt };
  const { epoch, revision } = snapshot;
  const synced = { epoch, revision, syncSeq, changed, becameReady, diagnostics };
  return verdict.kind === "confirm"
    ? { kind: "confirmed", ...synced }
    : { kind: "applied", reason: verdict.reason, ...synced };
}

function closed(): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The authorization sync was closed.",
    details: { reason: "sync_closed" },
  });
}
