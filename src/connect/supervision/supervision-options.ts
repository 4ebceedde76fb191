import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import type { Diagnostic, ToolList } from "../../protocol/index.js";
import { CALL_TIMEOUT_MS, type Clock, LIFECYCLE_TIMEOUT_MS, systemClock } from "../../transport/index.js";
import type { ConnectStdioOptions } from "../connect-options.js";
import { connectOpener } from "./connect-opener.js";
import type { MachineConfig } from "./next-state.js";
import type { OpenServer } from "./open-server.js";
import type { SupervisedState } from "./supervised-state.js";

/** How a server is supervised, whatever starts it. */
export interface SupervisionOptions {
  /** Whether it is started at once. Default true; `enable()` does it later. */
  readonly enabled?: boolean | undefined;
  /** Whether a process that ended is started again by itself. Default true. */
  readonly restart?: boolean | undefined;
  /** The pause before a restart; it doubles with each early end in a row, and half of it is random. Default 500. */
  readonly firstRestartDelayMs?: number | undefined;
  /** The longest such pause; also how long a process must serve for its end not to be early. Default 30,000. */
  readonly longestRestartDelayMs?: number | undefined;
  /** Restarts within `restartWindowMs`; one more end, and the server rests until something renews this budget. Default 5. */
  readonly maxRestarts?: number | undefined;
  /** How long a restart counts. Default 300,000. */
  readonly restartWindowMs?: number | undefined;
  /**
   * How long a server without a budget rests before a try, which renews the budget if it gets ready; also how often one that
   * is degraded is listed again. Default 600,000.
   */
  readonly probeIntervalMs?: number | undefined;
  /** Between the beginnings of two lists that changes bring about. Default 1,000. */
  readonly listIntervalMs?: number | undefined;
  /** For one list of the tools. Default 120,000. */
  readonly listTimeoutMs?: number | undefined;
  /** How long a call waits for the server when it doesn't say. Default 30,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** Bounds that as well, when the call doesn't say. Default 3,600,000. */
  readonly totalTimeoutMs?: number | undefined;
  /** Calls that may wait for the server at once. Default 1,000. */
  readonly maxWaitingCalls?: number | undefined;
  /** What `not_ready` says to people. */
  readonly notReadyText?: string | undefined;
  /** Told of each state, in order, the first one aside. */
  readonly onState?: ((state: SupervisedState) => unknown) | undefined;
  /** Told of each list of the tools that succeeds, before the state that follows from it. */
  readonly onTools?: ((list: ToolList) => unknown) | undefined;
  /** Told of everything tolerated, as it happens. */
  readonly onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined;
  readonly clock?: Clock | undefined;
  /** Randomness from 0 to 1, for pauses. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/**
 * A server that is started by its command, as `connect` would. A start has no deadline of its own unless `lifecycleTimeoutMs`
 * sets one. `modern.probeTimeoutMs` still bounds the question which era it is of.
 */
export interface SuperviseCommandOptions extends SupervisionOptions, Omit<ConnectStdioOptions, "signal"> {}

/** A server that is started by a function. */
export interface SuperviseOpenOptions extends SupervisionOptions {
  readonly open: OpenServer;
}

export type SuperviseOptions = SuperviseCommandOptions | SuperviseOpenOptions;

/** {@link SuperviseOptions} with nothing left open. */
export interface SupervisionConfig extends MachineConfig {
  readonly open: OpenServer;
  readonly enabled: boolean;
  readonly listTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly maxWaitingCalls: number;
  readonly notReadyText: string;
  readonly onState: (state: SupervisedState) => void;
  readonly onTools: (list: ToolList) => void;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Those that mean something to the client as well. */
const SHARED_NAMES: readonly (keyof SupervisionOptions)[] = [
  "clock",
  "connectTimeoutMs",
  "onDiagnostic",
  "totalTimeoutMs",
];

const OWN_NAMES: readonly (keyof SupervisionOptions)[] = [
  "enabled",
  "firstRestartDelayMs",
  "listIntervalMs",
  "listTimeoutMs",
  "longestRestartDelayMs",
  "maxRestarts",
  "maxWaitingCalls",
  "notReadyText",
  "onState",
  "onTools",
  "probeIntervalMs",
  "random",
  "restart",
  "restartWindowMs",
];

/** Applies the defaults and checks what can be checked. Throws `invalid_options`. */
export function resolveSupervisionOptions(options: SuperviseOptions): SupervisionConfig {
  const { enabled = true, restart = true, notReadyText = "The server is not ready yet." } = options;
  if (typeof enabled !== "boolean") refuseOption("enabled", "must be true or false");
  if (typeof restart !== "boolean") refuseOption("restart", "must be true or false");
  if (typeof notReadyText !== "string") refuseOption("notReadyText", "must be a text");
  const firstRestartDelayMs = finite("firstRestartDelayMs", options.firstRestartDelayMs, 500);
  const longestRestartDelayMs = finite(
    "longestRestartDelayMs",
    options.longestRestartDelayMs,
    Math.max(30_000, firstRestartDelayMs),
  );
  if (longestRestartDelayMs < firstRestartDelayMs) {
    refuseOption("longestRestartDelayMs", "must not be less than firstRestartDelayMs");
  }
  const { onDiagnostic } = options;
  return {
    open: openerOf(options),
    enabled,
    restart,
    firstRestartDelayMs,
    longestRestartDelayMs,
    maxRestarts: countOption("maxRestarts", options.maxRestarts, 5, 0),
    restartWindowMs: durationOption("restartWindowMs", options.restartWindowMs, 300_000),
    probeIntervalMs: durationOption("probeIntervalMs", options.probeIntervalMs, 600_000),
    listIntervalMs: finite("listIntervalMs", options.listIntervalMs, 1_000),
    listTimeoutMs: durationOption("listTimeoutMs", options.listTimeoutMs, LIFECYCLE_TIMEOUT_MS),
    connectTimeoutMs: durationOption("connectTimeoutMs", options.connectTimeoutMs, 30_000),
    totalTimeoutMs: durationOption("totalTimeoutMs", options.totalTimeoutMs, CALL_TIMEOUT_MS),
    maxWaitingCalls: countOption("maxWaitingCalls", options.maxWaitingCalls, 1_000, 0),
    notReadyText,
    onState: guarded("onState", options.onState, onDiagnostic),
    onTools: guarded("onTools", options.onTools, onDiagnostic),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

function openerOf(options: SuperviseOptions): OpenServer {
  if ("open" in options) {
    refuseUnknownOptions(options, [...OWN_NAMES, ...SHARED_NAMES, "open"]);
    if (typeof options.open !== "function") refuseOption("open", "must be a function");
    return options.open;
  }
  if (!("command" in options)) refuseOption("command", "or open must be given");
  if ("signal" in options) refuseOption("signal", "means nothing here: close() ends what is supervised");
  return connectOpener(withoutOwn(options));
}

/** What is the client's. */
function withoutOwn(options: SuperviseCommandOptions): Omit<ConnectStdioOptions, "signal"> {
  const {
    enabled: _enabled,
    firstRestartDelayMs: _firstRestartDelayMs,
    listIntervalMs: _listIntervalMs,
    listTimeoutMs: _listTimeoutMs,
    longestRestartDelayMs: _longestRestartDelayMs,
    maxRestarts: _maxRestarts,
    maxWaitingCalls: _maxWaitingCalls,
    notReadyText: _notReadyText,
    onState: _onState,
    onTools: _onTools,
    probeIntervalMs: _probeIntervalMs,
    random: _random,
    restart: _restart,
    restartWindowMs: _restartWindowMs,
    ...rest
  } = options;
  return rest;
}

/** A handler that never throws. One that does, or whose promise rejects, is a diagnostic. */
function guarded<T>(
  subject: string,
  handler: ((value: T) => unknown) | undefined,
  onDiagnostic: SupervisionOptions["onDiagnostic"],
): (value: T) => void {
  if (handler === undefined) return ignore;
  if (typeof handler !== "function") refuseOption(subject, "must be a function");
  const failed = (): void => {
    try {
      const message = `The handler ${subject} of a supervised server threw.`;
      onDiagnostic?.({ kind: "handler_failed", message, subject });
    } catch {
      // Whoever can't take a diagnostic can't be told about it either.
    }
  };
  return (value) => {
    try {
      const outcome = handler(value);
      if (outcome instanceof Promise) outcome.catch(failed);
    } catch {
      failed();
    }
  };
}

function finite(option: string, value: number | undefined, fallback: number): number {
  const duration = durationOption(option, value, fallback);
  return duration === Infinity ? refuseOption(option, "must be finite") : duration;
}

function ignore(): void {
  // Nobody wants to hear of it.
}
