import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../options.js";
import {
  type Diagnostic,
  type Implementation,
  isLegacyRevision,
  LEGACY_REVISIONS,
  type LegacyRevision,
  LIST_WALK_LIMITS,
  type ListWalkLimits,
  type Notification,
} from "../protocol/index.js";
import {
  CALL_TIMEOUT_MS,
  type Clock,
  type DeadlineOptions,
  type Deadlines,
  LIFECYCLE_TIMEOUT_MS,
  resolveDeadlines,
  systemClock,
} from "../transport/index.js";
import { type ChildProcessConfig, type EnvironmentVariables, Redaction } from "../transport/process/index.js";

/**
 * How a {@link LegacyStdioClient} starts its server and speaks to it. Command and arguments are run as they are: they must
 * come from the host's own configuration, never from a remote answer.
 */
export interface LegacyStdioOptions extends DeadlineOptions {
  /** The program: a path, or a name that is looked for in `PATH`. There is no shell. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** The server's working folder. Default: that of this process. */
  readonly cwd?: string | undefined;
  /** Variables laid over the inherited ones; `undefined` takes one away. Their values are kept out of errors. */
  readonly env?: EnvironmentVariables | undefined;
  /** Hand on the whole environment of this process, secrets included. Default false: only what programs need to run. */
  readonly inheritEnvironment?: boolean | undefined;
  /** Further values that must not appear in errors, such as a token among the arguments. */
  readonly secrets?: readonly string[] | undefined;
  readonly clientInfo: Implementation;
  /** Revisions that may be spoken, the preferred one first: that one is offered. Default: all legacy ones, newest first. */
  readonly revisions?: readonly LegacyRevision[] | undefined;
  /** Ends the start: it rejects with the signal's reason. Means nothing once the client is there. */
  readonly signal?: AbortSignal | undefined;
  /** For the start, for pings and for lists as a whole. Default 120,000. `totalTimeoutMs` is for the other calls. */
  readonly lifecycleTimeoutMs?: number | undefined;
  /** How long each polite step of closing may take. Default 2,000. */
  readonly closeGraceMs?: number | undefined;
  /** The longest line of the server, in bytes. Default 16 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** Messages that may wait for a server that doesn't read. Default 1,000. */
  readonly maxQueuedMessages?: number | undefined;
  /** How much of the end of stderr is kept, in bytes. Default 64 KiB. */
  readonly stderrTailBytes?: number | undefined;
  /** Pages of one list walk. Default 64. */
  readonly maxPages?: number | undefined;
  /** Entries of one list walk. Default 10,000. */
  readonly maxItems?: number | undefined;
  /** Bytes of one list walk. Default 64 MiB. */
  readonly maxListBytes?: number | undefined;
  /**
   * Told of the end of a process whose start failed, before `connect` rejects, which does not wait for it after a deadline or
   * an abort. The promise resolves when nothing of the process is left, and never rejects.
   */
  readonly onStartAbandoned?: ((ended: Promise<void>) => void) | undefined;
  /** Told of everything tolerated, as it happens. */
  readonly onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined;
  /** Told of every notification of the server, progress aside, in order. */
  readonly onNotification?: ((notification: Notification) => unknown) | undefined;
  readonly clock?: Clock | undefined;
}

/** {@link LegacyStdioOptions} with nothing left open. */
export interface LegacyStdioConfig {
  readonly process: ChildProcessConfig;
  readonly clientInfo: Implementation;
  readonly revisions: readonly [LegacyRevision, ...LegacyRevision[]];
  readonly signal: AbortSignal | undefined;
  /** Of `tools/call` and of requests that this client doesn't know. */
  readonly callDeadlines: Deadlines;
  /** Of pings and lists. */
  readonly lifecycleDeadlines: Deadlines;
  readonly maxLineBytes: number;
  readonly walk: ListWalkLimits;
  readonly onStartAbandoned: ((ended: Promise<void>) => void) | undefined;
  readonly onDiagnostic: ((diagnostic: Diagnostic) => void) | undefined;
  readonly onNotification: ((notification: Notification) => unknown) | undefined;
  readonly clock: Clock;
}

const OPTION_NAMES: readonly (keyof LegacyStdioOptions)[] = [
  "args",
  "clientInfo",
  "clock",
  "closeGraceMs",
  "command",
  "connectTimeoutMs",
  "cwd",
  "env",
  "idleTimeoutMs",
  "inheritEnvironment",
  "lifecycleTimeoutMs",
  "maxItems",
  "maxLineBytes",
  "maxListBytes",
  "maxPages",
  "maxQueuedMessages",
  "onDiagnostic",
  "onNotification",
  "onStartAbandoned",
  "revisions",
  "secrets",
  "signal",
  "stderrTailBytes",
  "totalTimeoutMs",
];

const KIB = 1024;

/** Configured values shorter than this are words like `1` and `true`, which would redact half of a text. */
const SECRET_LENGTH = 6;

/** Applies the defaults and checks what can be checked. Throws `invalid_options`. */
export function resolveLegacyStdioOptions(options: LegacyStdioOptions): LegacyStdioConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const { command, args = [], clientInfo, env = {} } = options;
  if (typeof command !== "string" || command === "") refuseOption("command", "must be a program's name or path");
  if (!args.every((argument) => typeof argument === "string")) refuseOption("args", "must be strings");
  if (typeof clientInfo?.name !== "string" || typeof clientInfo.version !== "string") {
    refuseOption("clientInfo", "must have a name and a version");
  }
  const callDeadlines = resolveDeadlines(options, {
    connectTimeoutMs: 30_000,
    idleTimeoutMs: 60_000,
    totalTimeoutMs: CALL_TIMEOUT_MS,
  });
  const lifecycleTimeoutMs = durationOption("lifecycleTimeoutMs", options.lifecycleTimeoutMs, LIFECYCLE_TIMEOUT_MS);
  const stderrTailBytes = countOption("stderrTailBytes", options.stderrTailBytes, 64 * KIB);
  if (stderrTailBytes === Infinity) refuseOption("stderrTailBytes", "must be finite");
  const configured = Object.values(env).filter((value) => value !== undefined && value.length >= SECRET_LENGTH);
  return {
    process: {
      command,
      args,
      cwd: options.cwd,
      env,
      inheritEnvironment: options.inheritEnvironment ?? false,
      redaction: new Redaction([...configured.filter(isString), ...(options.secrets ?? [])]),
      stderrTailBytes,
      maxQueuedMessages: countOption("maxQueuedMessages", options.maxQueuedMessages, 1_000),
      closeGraceMs: durationOption("closeGraceMs", options.closeGraceMs, 2_000),
    },
    clientInfo,
    revisions: resolveRevisions(options.revisions),
    signal: options.signal,
    callDeadlines,
    lifecycleDeadlines: { ...callDeadlines, totalTimeoutMs: lifecycleTimeoutMs },
    maxLineBytes: countOption("maxLineBytes", options.maxLineBytes, 16 * KIB * KIB),
    walk: {
      maxPages: countOption("maxPages", options.maxPages, LIST_WALK_LIMITS.maxPages),
      maxItems: countOption("maxItems", options.maxItems, LIST_WALK_LIMITS.maxItems),
      maxListBytes: countOption("maxListBytes", options.maxListBytes, LIST_WALK_LIMITS.maxListBytes),
    },
    onStartAbandoned: options.onStartAbandoned,
    onDiagnostic: options.onDiagnostic,
    onNotification: options.onNotification,
    clock: options.clock ?? systemClock,
  };
}

function resolveRevisions(given: readonly LegacyRevision[] = LEGACY_REVISIONS): LegacyStdioConfig["revisions"] {
  const [preferred, ...others] = given;
  if (preferred === undefined || !given.every(isLegacyRevision)) {
    return refuseOption("revisions", `must be some of ${LEGACY_REVISIONS.join(", ")}`);
  }
  return [preferred, ...others];
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
