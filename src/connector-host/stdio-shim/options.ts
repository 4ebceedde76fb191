import type { Readable, Writable } from "node:stream";
import { countOption, durationOption, functionOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { isMetaKey, isReservedMetaKey } from "../../protocol/index.js";
import { type Clock, systemClock } from "../../transport/index.js";

/** How an agent that only spawns programs is connected to a host. */
export interface ServeStdioOptions {
  /** That of the host, as it was given to it. */
  readonly stateDirectory: string;
  /** The name of the durable binding whose connectors the agent gets. */
  readonly binding: string;
  /** Where the agent writes. That of the process when left out. */
  readonly stdin?: Readable | undefined;
  /** Where the agent reads. That of the process when left out. Nothing else may be written to it. */
  readonly stdout?: Writable | undefined;
  /**
   * Starts the host; called, once at a time, when a request found none. Left out: such a request fails at once. What it rejects
   * with is the reason why the request failed.
   */
  readonly start?: (() => void | Promise<void>) | undefined;
  /** How long a request waits for a host that was started, or that can take no more connections just now. 10,000 when left out. */
  readonly startTimeoutMs?: number | undefined;
  /** How long what is under way when the agent closes stdin may take until it has its answer. 10,000 when left out. */
  readonly finishTimeoutMs?: number | undefined;
  /** Gives up at once what is under way, as if that time were over: for a program that is told to end. */
  readonly signal?: AbortSignal | undefined;
  /** How long the end may take when nothing is under way, or it was given up. 2,000 when left out. */
  readonly closeTimeoutMs?: number | undefined;
  /** Bytes of a line of the agent. 4 MiB when left out, which is what a host takes by default. */
  readonly maxLineBytes?: number | undefined;
  /** Bytes of a message of the host. 64 MiB when left out. */
  readonly maxMessageBytes?: number | undefined;
  /** Requests and subscriptions that are under way at a time. 256 when left out. */
  readonly maxRequests?: number | undefined;
  /** The prefix of the product's error data keys, as the host has it. `sh.tutti` when left out. */
  readonly productPrefix?: string | undefined;
  readonly clock?: Clock | undefined;
}

/** {@link ServeStdioOptions} with nothing left open. */
export interface ServeStdioConfig {
  readonly stateDirectory: string;
  readonly binding: string;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly start: (() => void | Promise<void>) | undefined;
  readonly startTimeoutMs: number;
  readonly finishTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly closeTimeoutMs: number;
  readonly maxLineBytes: number;
  readonly maxMessageBytes: number;
  readonly maxRequests: number;
  /** The key of the verdict in the data of errors. */
  readonly deliveryKey: string;
  readonly clock: Clock;
}

const KNOWN: Readonly<Record<keyof ServeStdioOptions, true>> = {
  stateDirectory: true,
  binding: true,
  stdin: true,
  stdout: true,
  start: true,
  startTimeoutMs: true,
  finishTimeoutMs: true,
  signal: true,
  closeTimeoutMs: true,
  maxLineBytes: true,
  maxMessageBytes: true,
  maxRequests: true,
  productPrefix: true,
  clock: true,
};

const MIB = 1024 * 1024;

/** Fills in defaults. Throws `invalid_options` for an unknown key and for a value out of range. */
export function resolveServeStdioOptions(options: ServeStdioOptions): ServeStdioConfig {
  refuseUnknownOptions(options, Object.keys(KNOWN));
  return {
    stateDirectory: text("stateDirectory", options.stateDirectory, /^[^\0]+$/),
    binding: text("binding", options.binding, /^[\x21-\x7e]+$/),
    stdin: options.stdin ?? process.stdin,
    stdout: options.stdout ?? process.stdout,
    start: functionOption("start", options.start, undefined),
    startTimeoutMs: durationOption("startTimeoutMs", options.startTimeoutMs, 10_000),
    finishTimeoutMs: durationOption("finishTimeoutMs", options.finishTimeoutMs, 10_000),
    signal: options.signal,
    closeTimeoutMs: durationOption("closeTimeoutMs", options.closeTimeoutMs, 2_000),
    maxLineBytes: countOption("maxLineBytes", options.maxLineBytes, 4 * MIB),
    maxMessageBytes: countOption("maxMessageBytes", options.maxMessageBytes, 64 * MIB),
    maxRequests: countOption("maxRequests", options.maxRequests, 256),
    deliveryKey: `${prefix(options.productPrefix ?? "sh.tutti")}/delivery`,
    clock: options.clock ?? systemClock,
  };
}

/** What becomes a part of a path, or a header. */
function text(option: string, value: string, allowed: RegExp): string {
  if (typeof value === "string" && allowed.test(value)) return value;
  return refuseOption(option, "must be a text without characters that can't stand there");
}

function prefix(value: string): string {
  if (isMetaKey(`${value}/name`) && !isReservedMetaKey(`${value}/name`)) return value;
  return refuseOption("productPrefix", "must be dotted labels that MCP does not reserve, such as com.example");
}
