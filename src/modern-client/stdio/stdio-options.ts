import type { RemoteConnectorError } from "../../errors.js";
import {
  choiceOption,
  countOption,
  durationOption,
  functionOption,
  refuseOption,
  refuseUnknownOptions,
} from "../../options.js";
import {
  CALL_TIMEOUT_MS,
  type Clock,
  type DeadlineOptions,
  PROCESS_OPTION_NAMES,
  type ProcessConfig,
  type ProcessOptions,
  resolveDeadlines,
  resolveProcessOptions,
  systemClock,
} from "../../transport/index.js";
import {
  MODERN_OPTION_NAMES,
  type ModernClientConfig,
  type ModernClientOptions,
  resolveCache,
  resolveModernClientOptions,
} from "../client-options.js";
import type { ResponseCacheOptions } from "../response-cache.js";
import type { RestartConfig } from "./restart-pace.js";

/** How a {@link ModernStdioClient} starts its server and speaks to it. */
export interface ModernStdioClientOptions extends ModernClientOptions, DeadlineOptions, ProcessOptions {
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
  /**
   * Told of the end of each process that was ready, once, with the error of what it was given: whether or not something was. What it
   * throws is ignored.
   */
  readonly onProcessEnd?: ((error: RemoteConnectorError) => unknown) | undefined;
  /** Requests and notifications under way at once, subscriptions aside. Default 64. */
  readonly maxConcurrentRequests?: number | undefined;
  /** Requests and notifications that may wait for their turn. Default 1,000. */
  readonly maxQueuedRequests?: number | undefined;
  /** Keeps results for as long as the server calls them fresh; `context` means nothing here. Default: nothing is kept. */
  readonly cache?: boolean | ResponseCacheOptions | undefined;
  readonly clock?: Clock | undefined;
}

export interface StdioChannelConfig {
  readonly command: ProcessConfig;
  readonly restart: RestartConfig;
  readonly clock: Clock;
  readonly maxConcurrentRequests: number;
  readonly maxQueuedRequests: number;
  /** `undefined`: nothing is asked first. */
  readonly probeTimeoutMs: number | undefined;
  /** Never throws. */
  readonly onProcessEnd: (error: RemoteConnectorError) => void;
}

export interface ModernStdioConfig {
  readonly client: ModernClientConfig;
  readonly channel: StdioChannelConfig;
}

const OPTION_NAMES: readonly (keyof ModernStdioClientOptions)[] = [
  ...MODERN_OPTION_NAMES,
  ...PROCESS_OPTION_NAMES,
  "cache",
  "clock",
  "connectTimeoutMs",
  "firstRestartDelayMs",
  "idleTimeoutMs",
  "longestRestartDelayMs",
  "maxConcurrentRequests",
  "maxQueuedRequests",
  "onProcessEnd",
  "probe",
  "probeTimeoutMs",
  "restart",
  "totalTimeoutMs",
];

/** Applies the defaults and checks what can be checked. Throws `invalid_options`. */
export function resolveModernStdioOptions(options: ModernStdioClientOptions): ModernStdioConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const clock = options.clock ?? systemClock;
  const { probe = true } = options;
  if (typeof probe !== "boolean") refuseOption("probe", "must be true or false");
  const probeTimeoutMs = durationOption("probeTimeoutMs", options.probeTimeoutMs, 5_000);
  const command = resolveProcessOptions(options);
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
      onProcessEnd: carefully(functionOption("onProcessEnd", options.onProcessEnd, ignore)),
    },
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

/** What a listener throws must not become the fate of the processes that it listens to. */
function carefully(listener: (error: RemoteConnectorError) => unknown): (error: RemoteConnectorError) => void {
  return (error) => {
    try {
      listener(error);
    } catch {
      // It listens, and decides nothing.
    }
  };
}

function ignore(): void {
  // Nobody wants to know.
}
