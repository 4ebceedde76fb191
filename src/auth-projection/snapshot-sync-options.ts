import { refuseUnknownOptions } from "../options.js";
import type { Random } from "./backoff.js";
import type { ChangePlanner } from "./change-planner.js";
import { systemWallClock, type WallClock } from "./clock.js";
import type { Login, LoginGuard } from "./login.js";
import type { ProjectionTx, UnitOfWork } from "./ports.js";
import type { Readiness } from "./readiness.js";
import type { SnapshotSource } from "./snapshot-client.js";
import type { SyncEvent } from "./sync-event.js";

/** What a {@link SnapshotSync} works with. */
export interface SnapshotSyncOptions<Tx extends ProjectionTx> {
  readonly login: Login;
  readonly logins: LoginGuard;
  /** The account's scope epoch, for which this sync establishes readiness. */
  readonly scopeEpoch: string;
  readonly readiness: Readiness;
  readonly source: SnapshotSource;
  readonly store: UnitOfWork<Tx>;
  /** Plans what changed, in the transaction that changed it. Must not wait for this sync's end. */
  readonly onChanged: ChangePlanner<Tx>;
  /** Told of every fetch, in order, when it is over. What it throws is an uncaught exception and doesn't stop the sync. */
  readonly onEvent?: ((event: SyncEvent) => void) | undefined;
  readonly clock?: WallClock | undefined;
  readonly random?: Random | undefined;
}

/** The same, with nothing left out. */
export interface SnapshotSyncConfig<Tx extends ProjectionTx> {
  readonly login: Login;
  readonly logins: LoginGuard;
  readonly scopeEpoch: string;
  readonly readiness: Readiness;
  readonly source: SnapshotSource;
  readonly store: UnitOfWork<Tx>;
  readonly onChanged: ChangePlanner<Tx>;
  readonly onEvent: (event: SyncEvent) => void;
  readonly clock: WallClock;
  readonly random: Random;
}

const OPTION_NAMES: readonly (keyof SnapshotSyncOptions<ProjectionTx>)[] = [
  "clock",
  "login",
  "logins",
  "onChanged",
  "onEvent",
  "random",
  "readiness",
  "scopeEpoch",
  "source",
  "store",
];

/** Fills in what is left out. Throws `invalid_options` for an unknown key. */
export function resolveSnapshotSyncOptions<Tx extends ProjectionTx>(
  options: SnapshotSyncOptions<Tx>,
): SnapshotSyncConfig<Tx> {
  refuseUnknownOptions(options, OPTION_NAMES);
  return {
    ...options,
    onEvent: options.onEvent ?? (() => undefined),
    clock: options.clock ?? systemWallClock,
    random: options.random ?? Math.random,
  };
}
