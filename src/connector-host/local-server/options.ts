import { randomBytes } from "node:crypto";
import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { type Implementation, isMetaKey, isReservedMetaKey } from "../../protocol/index.js";
import { type Clock, systemClock } from "../../transport/index.js";
import type { ToolDirectory } from "./ports.js";

export interface LocalServerOptions {
  readonly directory: ToolDirectory;
  /** `0`, which is also what counts when left out, takes a free port. */
  readonly port?: number | undefined;
  /** What the server says of itself. Named `connector` when left out. */
  readonly serverInfo?: Implementation | undefined;
  /**
   * The prefix of the product's `_meta` and error data keys, without its slash. `sh.tutti` when left out. Agents can't
   * send keys with it, nor with one below it.
   */
  readonly productPrefix?: string | undefined;
  /** Origins of web pages that may call, beside loopback, as browsers write them. None when left out. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Bytes of a request's body. 4 MiB when left out. */
  readonly maxBodyBytes?: number | undefined;
  /** Bytes of one call's arguments. 256 KiB when left out. */
  readonly maxArgumentsBytes?: number | undefined;
  /** Bearers that are valid at a time. 256 when left out. */
  readonly maxBindings?: number | undefined;
  /** How long a bearer lives without being used. 24 hours when left out. */
  readonly bindingIdleMs?: number | undefined;
  /** Open `subscriptions/listen` streams of one binding. 32 when left out. */
  readonly maxSubscriptions?: number | undefined;
  /** Unread bytes of one stream beyond which progress is dropped. 1 MiB when left out. */
  readonly maxBufferedBytes?: number | undefined;
  /** How long the head of a request may take. 5 seconds when left out. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long a whole request, body included, may take to come in. 60 seconds when left out. */
  readonly requestTimeoutMs?: number | undefined;
  /** How long a call may take. One hour when left out. Looked at once a second. */
  readonly callTimeoutMs?: number | undefined;
  /** How long a list may take. 2 minutes when left out. Looked at once a second. */
  readonly listTimeoutMs?: number | undefined;
  /** After how long without a byte an answer becomes a stream and gets a comment, again and again. 15 seconds. */
  readonly keepAliveMs?: number | undefined;
  /** How long `close` waits for answers before it cuts them. 5 seconds when left out. */
  readonly closeTimeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
  /** The source of bearers. It must be unpredictable. */
  readonly randomBytes?: ((size: number) => Uint8Array) | undefined;
  /** Told of every failure that is a defect: the directory threw something that is no error of this package. */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

/** {@link LocalServerOptions} with nothing left open. */
export interface LocalServerConfig {
  readonly directory: ToolDirectory;
  readonly port: number;
  readonly serverInfo: Implementation;
  readonly productPrefix: string;
  /** The key of the verdict in the data of errors. */
  readonly deliveryKey: string;
  /** The key of the connectors that are left out, in the `_meta` of a list. */
  readonly omittedKey: string;
  readonly allowedOrigins: readonly string[];
  readonly maxBodyBytes: number;
  readonly maxArgumentsBytes: number;
  readonly maxBindings: number;
  readonly bindingIdleMs: number;
  readonly maxSubscriptions: number;
  readonly maxBufferedBytes: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly listTimeoutMs: number;
  readonly keepAliveMs: number;
  readonly closeTimeoutMs: number;
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  readonly onFault: (error: unknown) => void;
}

const KNOWN: Readonly<Record<keyof LocalServerOptions, true>> = {
  directory: true,
  port: true,
  serverInfo: true,
  productPrefix: true,
  allowedOrigins: true,
  maxBodyBytes: true,
  maxArgumentsBytes: true,
  maxBindings: true,
  bindingIdleMs: true,
  maxSubscriptions: true,
  maxBufferedBytes: true,
  headersTimeoutMs: true,
  requestTimeoutMs: true,
  callTimeoutMs: true,
  listTimeoutMs: true,
  keepAliveMs: true,
  closeTimeoutMs: true,
  clock: true,
  randomBytes: true,
  onFault: true,
};

const KIB = 1024;
const MIB = 1024 * KIB;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Fills in defaults. Throws `invalid_options` for an unknown key and for a value out of range. */
export function resolveLocalServerOptions(options: LocalServerOptions): LocalServerConfig {
  refuseUnknownOptions(options, Object.keys(KNOWN));
  const productPrefix = prefix(options.productPrefix ?? "sh.tutti");
  return {
    directory: options.directory,
    port: options.port ?? 0,
    serverInfo: options.serverInfo ?? { name: "connector", version: "1" },
    productPrefix,
    deliveryKey: `${productPrefix}/delivery`,
    omittedKey: `${productPrefix}/omitted`,
    allowedOrigins: options.allowedOrigins ?? [],
    maxBodyBytes: countOption("maxBodyBytes", options.maxBodyBytes, 4 * MIB),
    maxArgumentsBytes: countOption("maxArgumentsBytes", options.maxArgumentsBytes, 256 * KIB),
    maxBindings: countOption("maxBindings", options.maxBindings, 256),
    bindingIdleMs: durationOption("bindingIdleMs", options.bindingIdleMs, DAY_MS),
    maxSubscriptions: countOption("maxSubscriptions", options.maxSubscriptions, 32),
    maxBufferedBytes: countOption("maxBufferedBytes", options.maxBufferedBytes, MIB),
    headersTimeoutMs: durationOption("headersTimeoutMs", options.headersTimeoutMs, 5_000),
    requestTimeoutMs: durationOption("requestTimeoutMs", options.requestTimeoutMs, 60_000),
    callTimeoutMs: durationOption("callTimeoutMs", options.callTimeoutMs, 3_600_000),
    listTimeoutMs: durationOption("listTimeoutMs", options.listTimeoutMs, 120_000),
    keepAliveMs: durationOption("keepAliveMs", options.keepAliveMs, 15_000),
    closeTimeoutMs: durationOption("closeTimeoutMs", options.closeTimeoutMs, 5_000),
    clock: options.clock ?? systemClock,
    randomBytes: options.randomBytes ?? randomBytes,
    onFault: options.onFault ?? ignore,
  };
}

function prefix(value: string): string {
  if (isMetaKey(`${value}/name`) && !isReservedMetaKey(`${value}/name`)) return value;
  return refuseOption("productPrefix", "must be dotted labels that MCP does not reserve, such as com.example");
}

function ignore(): void {}
