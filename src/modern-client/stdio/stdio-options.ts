import { choiceOption, countOption, durationOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import {
  CALL_TIMEOUT_MS,
  type Clock,
  type DeadlineOptions,
  resolveDeadlines,
  systemClock,
} from "../../transport/index.js";
import type { ChildProcessConfig, EnvironmentVariables } from "../../transport/process/index.js";
import {
  MODERN_OPTION_NAMES,
  type ModernClientConfig,
  type ModernClientOptions,
  resolveCache,
  resolveModernClientOptions,
} from "../client-options.js";
import type { ResponseCacheOptions } from "../response-cache.js";
import type { RestartConfig } from "./restart-pace.js";

/**
 * How a {@link ModernStdioClient} starts its server and speaks to it. Command and arguments are run as they are: they must
 * come from the host's own configuration, never from a remote answer.
 */
export interface ModernStdioClientOptions extends ModernClientOptions, DeadlineOptions {
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
  /**
   * Whether each process is asked with `server/discover` what it speaks before it gets anything else, so that an older server
   * fails clearly. Default true.
   */
  readonly probe?: boolean | undefined;
  /** How long a process may take to answer that, from its start. Default 5,000: more for a server that is slow to start. */
  readonly probeTimeoutMs?: number | undefined;
  /** What follows the end of the process: the next request starts another (default), or fails as well. */
  readonly restart?: "on_request" | "never" | undefined;
  /** The pause before a start that follows an early end or a failed start; it doubles with each in a row. Default 500. */
  readonly firstRestartDelayMs?: number | undefined;
  /** The longest such pause; also how long a process must serve for its end not to count as early. Default 10,000. */
  readonly longestRestartDelayMs?: number | undefined;
  /** Requests under way at once, subscriptions aside. Default 64. */
  readonly maxConcurrentRequests?: number | undefined;
  /** Requests that may wait for their turn. Default 1,000. */
  readonly maxQueuedRequests?: number | undefined;
  /** How long each polite step of closing may take. Default 2,000. */
  readonly closeGraceMs?: number | undefined;
  /** The longest line of the server, in bytes. Default 16 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** Messages that may wait for a server that doesn't read. Default 1,000. */
  readonly maxQueuedMessages?: number | undefined;
  /** How much of the end of stderr is kept, in bytes. Default 64 KiB. */
  readonly stderrTailBytes?: number | undefined;
  /** Keeps results for as long as the server calls them fresh; `context` means nothing here. Default: nothing is kept. */
  readonly cache?: boolean | ResponseCacheOptions | undefined;
  readonly clock?: Clock | undefined;
}

/** How the server is run. */
export interface ServerCommand extends Omit<ChildProcessConfig, "redaction"> {
  /** What must not appear in errors. */
  readonly secrets: readonly string[];
  readonly maxLineBytes: number;
}

export interface StdioChannelConfig {
  readonly command: ServerCommand;
  readonly restart: RestartConfig;
  readonly clock: Clock;
  readonly maxConcurrentRequests: number;
  readonly maxQueuedRequests: number;
  /** `undefined`: nothing is asked first. */
  readonly probeTimeoutMs: number | undefined;
}

export interface ModernStdioConfig {
  readonly client: ModernClientConfig;
  readonly channel: StdioChannelConfig;
}

const OPTION_NAMES: readonly (keyof ModernStdioClientOptions)[] = [
  ...MODERN_OPTION_NAMES,
  "args",
  "cache",
  "clock",
  "closeGraceMs",
  "command",
  "connectTimeoutMs",
  "cwd",
  "env",
  "firstRestartDelayMs",
  "idleTimeoutMs",
  "inheritEnvironment",
  "longestRestartDelayMs",
  "maxConcurrentRequests",
  "maxLineBytes",
  "maxQueuedMessages",
  "maxQueuedRequests",
  "probe",
  "probeTimeoutMs",
  "restart",
  "secrets",
  "stderrTailBytes",
  "totalTimeoutMs",
];

const KIB = 1024;

/** Configured values shorter than this are words like `1` and `true`, which would redact half of a text. */
const SECRET_LENGTH = 6;

/** Applies the defaults and checks what can be checked. Throws `invalid_options`. */
export function resolveModernStdioOptions(options: ModernStdioClientOptions): ModernStdioConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const clock = options.clock ?? systemClock;
  const { probe = true } = options;
  if (typeof probe !== "boolean") refuseOption("probe", "must be true or false");
  const probeTimeoutMs = durationOption("probeTimeoutMs", options.probeTimeoutMs, 5_000);
  const command = resolveCommand(options);
  const client = resolveModernClientOptions(options, {
    clock,
    deadlines: resolveDeadlines(options, {
      connectTimeoutMs: 30_000,
      idleTimeoutMs: 60_000,
      totalTimeoutMs: CALL_TIMEOUT_MS,
    }),
    honoursHeaders: false,
    unknownTools: "call",
    // Whoever speaks to the process is the same all along.
    cache: resolveCache(withoutContext(options.cache), () => "", clock),
    origin: `stdio:${command.command}`,
  });
  return {
    client,
    channel: {
      command,
      clock,
      restart: resolveRestart(options, client.readRetries.random),
      maxConcurrentRequests: countOption("maxConcurrentRequests", options.maxConcurrentRequests, 64),
      maxQueuedRequests: countOption("maxQueuedRequests", options.maxQueuedRequests, 1_000, 0),
      probeTimeoutMs: probe ? probeTimeoutMs : undefined,
    },
  };
}

function resolveCommand(options: ModernStdioClientOptions): ServerCommand {
  const { command, args = [], cwd, env = {}, secrets = [], inheritEnvironment = false } = options;
  if (typeof command !== "string" || command === "") refuseOption("command", "must be a program's name or path");
  if (!isListOfStrings(args)) refuseOption("args", "must be strings");
  if (!isListOfStrings(secrets)) refuseOption("secrets", "must be strings");
  if (cwd !== undefined && typeof cwd !== "string") refuseOption("cwd", "must be a path");
  if (typeof env !== "object" || env === null) refuseOption("env", "must be an object");
  if (typeof inheritEnvironment !== "boolean") refuseOption("inheritEnvironment", "must be true or false");
  const stderrTailBytes = countOption("stderrTailBytes", options.stderrTailBytes, 64 * KIB);
  if (stderrTailBytes === Infinity) refuseOption("stderrTailBytes", "must be finite");
  const configured: string[] = [];
  for (const value of Object.values(env)) {
    if (value !== undefined && typeof value !== "string") refuseOption("env", "must hold strings");
    if (value !== undefined && value.length >= SECRET_LENGTH) configured.push(value);
  }
  return {
    command,
    args,
    cwd,
    env,
    inheritEnvironment,
    secrets: [...configured, ...secrets],
    stderrTailBytes,
    maxLineBytes: countOption("maxLineBytes", options.maxLineBytes, 16 * KIB * KIB),
    maxQueuedMessages: countOption("maxQueuedMessages", options.maxQueuedMessages, 1_000),
    closeGraceMs: durationOption("closeGraceMs", options.closeGraceMs, 2_000),
  };
}

function resolveRestart(options: ModernStdioClientOptions, random: () => number): RestartConfig {
  const firstRestartDelayMs = finite("firstRestartDelayMs", options.firstRestartDelayMs, 500);
  const longestRestartDelayMs = finite(
    "longestRestartDelayMs",
    options.longestRestartDelayMs,
    Math.max(10_000, firstRestartDelayMs),
  );
  if (longestRestartDelayMs < firstRestartDelayMs) {
    refuseOption("longestRestartDelayMs", "must not be less than firstRestartDelayMs");
  }
  const restart = choiceOption("restart", options.restart, ["on_request", "never"]);
  return { restart, firstRestartDelayMs, longestRestartDelayMs, random };
}

function finite(option: string, value: number | undefined, fallback: number): number {
  const duration = durationOption(option, value, fallback);
  return duration === Infinity ? refuseOption(option, "must be finite") : duration;
}

function withoutContext(cache: ModernStdioClientOptions["cache"]): ModernStdioClientOptions["cache"] {
  return typeof cache === "object" ? { ...cache, context: undefined } : cache;
}

function isListOfStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
