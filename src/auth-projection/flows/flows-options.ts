import { refuseUnknownOptions } from "../../options.js";
import type { Random } from "../backoff.js";
import { systemWallClock, type WallClock } from "../clock.js";
import type { Observation } from "../decide-overlay.js";
import type { Login, LoginGuard } from "../login.js";
import type { FlowRow, ProjectionTx, UnitOfWork } from "../ports.js";
import type { FlowSessions } from "./session.js";

/** The sync of the same login, as far as flows need it. */
export interface FlowSync {
  /** Resolves when a snapshot counts in this login, or none ever will. */
  readonly ready: Promise<boolean>;
  wake(): void;
  observe(observation: Observation): Promise<boolean>;
}

/** What became of a connector's route. */
export interface RouteOutcome {
  /** Whether the route is what it should be now: there, or gone. */
  readonly reached: boolean;
  /** A code for why not; `undefined` when it is. */
  readonly reason: string | undefined;
}

/**
 * Watches how connectors converge. Both wait for as long as that can still happen, and resolve with what is known then when the
 * signal fires, which it does after two minutes at the latest.
 */
export interface FlowConvergence {
  /** Until the connector's route for this connection, as its row has it, is published, or it is known that it will not be. */
  published(connectorKey: string, connectionId: string, signal: AbortSignal): Promise<RouteOutcome>;
  /** Until the connector is observed disabled, its route gone. */
  withdrawn(connectorKey: string, signal: AbortSignal): Promise<RouteOutcome>;
}

/** What the flows of a login work with. */
export interface AuthorizationFlowsOptions<Tx extends ProjectionTx> {
  readonly login: Login;
  readonly logins: LoginGuard;
  /** The control plane: a `FlowClient`. */
  readonly sessions: FlowSessions;
  readonly store: UnitOfWork<Tx>;
  /** The login's `SnapshotSync`. `synchronized` is to be called with each of its `applied` and `confirmed`. */
  readonly sync: FlowSync;
  readonly convergence: FlowConvergence;
  /** Told of every change of a flow's row, after it. What it throws is an uncaught exception and stops no flow. */
  readonly onChange?: ((row: FlowRow) => void) | undefined;
  /** Told when a row could not be read or written. It is tried again. Must not throw. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
  readonly clock?: WallClock | undefined;
  readonly random?: Random | undefined;
  /** A text that was never used before. Default a random UUID. */
  readonly mintRequestId?: (() => string) | undefined;
}

/** The same, with nothing left out. */
export interface FlowsConfig<Tx extends ProjectionTx> {
  readonly login: Login;
  readonly logins: LoginGuard;
  readonly sessions: FlowSessions;
  readonly store: UnitOfWork<Tx>;
  readonly sync: FlowSync;
  readonly convergence: FlowConvergence;
  readonly onChange: (row: FlowRow) => void;
  readonly onTrouble: (error: unknown) => void;
  readonly clock: WallClock;
  readonly random: Random;
  readonly mintRequestId: () => string;
}

const OPTION_NAMES: readonly (keyof AuthorizationFlowsOptions<ProjectionTx>)[] = [
  "clock",
  "convergence",
  "login",
  "logins",
  "mintRequestId",
  "onChange",
  "onTrouble",
  "random",
  "sessions",
  "store",
  "sync",
];

/** Fills in what is left out. Throws `invalid_options` for an unknown key. */
export function resolveAuthorizationFlowsOptions<Tx extends ProjectionTx>(
  options: AuthorizationFlowsOptions<Tx>,
): FlowsConfig<Tx> {
  refuseUnknownOptions(options, OPTION_NAMES);
  return {
    ...options,
    onChange: options.onChange ?? (() => undefined),
    onTrouble: options.onTrouble ?? (() => undefined),
    clock: options.clock ?? systemWallClock,
    random: options.random ?? Math.random,
    mintRequestId: options.mintRequestId ?? (() => crypto.randomUUID()),
  };
}
