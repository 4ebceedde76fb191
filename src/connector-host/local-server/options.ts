import { randomBytes } from "node:crypto";
import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { type Implementation, isMetaKey, isReservedMetaKey } from "../../protocol/index.js";
import { type Clock, systemClock } from "../../transport/index.js";
import { createMemoryBindingRows, type DurableBindingRows } from "./durable-bindings.js";
import type { ToolDirectory } from "./ports.js";

export interface LocalServerOptions {
  readonly directory: ToolDirectory;
  /** `0`, which is also what counts when left out, takes a free port. */
  readonly port?: number | undefined;
  /** What the server says of itself. Named `connector` when left out. */
  readonly serverInfo?: Implementation | undefined;
  /**
   * The prefix of the product's `_meta` and error data keys, without its slash. `sh.tutti` when left out. Nothing that agents
   * send with it, or with one below it, travels on; `connector` alone is read.
   */
  readonly productPrefix?: string | undefined;
  /**
   * Values of `Origin` that may call, beside loopback, as browsers write them. None when left out. For apps that send one: nothing
   * here tells a browser that a page of another origin may call, so that it keeps such a page from it.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Bytes of a request's body. 4 MiB when left out. */
  readonly maxBodyBytes?: number | undefined;
  /** Bytes of the arguments of a tool or prompt, and of what is to be completed. 256 KiB when left out. */
  readonly maxArgumentsBytes?: number | undefined;
  /** Bytes of what a request goes on with: `inputResponses` and `requestState` together. 1 MiB when left out. */
  readonly maxInputBytes?: number | undefined;
  /** Questions that wait for the agent of one session, beyond which one more is an error to who asks. 8 when left out. */
  readonly maxPendingAsks?: number | undefined;
  /** Bearers that are valid at a time. 256 when left out. */
  readonly maxBindings?: number | undefined;
  /** How long a bearer of a session lives without being used. 24 hours when left out. */
  readonly bindingIdleMs?: number | undefined;
  /** Durable bindings. 64 when left out. */
  readonly maxDurableBindings?: number | undefined;
  /** Where durable bindings are kept. Left out: in memory. */
  readonly durableBindings?: DurableBindingRows | undefined;
  /** Listening at a time under one binding, where one more `subscriptions/listen` is refused. 32 when left out. */
  readonly maxSubscriptions?: number | undefined;
  /** URIs that one `subscriptions/listen` stream, or one session, watches. 64 when left out. */
  readonly maxResourceSubscriptions?: number | undefined;
  /** How long the connectors may take to accept the URIs of a subscription. 10 seconds when left out. */
  readonly subscribeTimeoutMs?: number | undefined;
  /** Sessions of legacy revisions that are open at a time. 256 when left out. */
  readonly maxSessions?: number | undefined;
  /** How long a session lives without a request and without anybody listening. 30 minutes when left out. */
  readonly sessionIdleMs?: number | undefined;
  /** Events of one stream of a session that are kept for an agent that comes back. 256 when left out. */
  readonly maxStreamEvents?: number | undefined;
  /** Bytes of those events. 1 MiB when left out. */
  readonly maxStreamBytes?: number | undefined;
  /** Bytes of the events of all streams that have ended. 64 MiB when left out. */
  readonly maxKeptBytes?: number | undefined;
  /** How long a call goes on without its connection, and a stream is kept after its end. 60 seconds when left out. */
  readonly resumeWindowMs?: number | undefined;
  /** How long an agent is asked to wait before it comes back to a stream. 1 second when left out. */
  readonly streamRetryMs?: number | undefined;
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
  /** The key of the connectors that are listed as they were last, in the `_meta` of a list. */
  readonly staleKey: string;
  /** The key in a request's `_meta` by which an agent chooses among the owners of a resource. */
  readonly connectorMetaKey: string;
  readonly allowedOrigins: readonly string[];
  readonly maxBodyBytes: number;
  readonly maxArgumentsBytes: number;
  readonly maxInputBytes: number;
  readonly maxPendingAsks: number;
  readonly maxBindings: number;
  readonly bindingIdleMs: number;
  readonly maxDurableBindings: number;
  readonly durableBindings: DurableBindingRows;
  readonly maxSubscriptions: number;
  readonly maxResourceSubscriptions: number;
  readonly subscribeTimeoutMs: number;
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly maxStreamEvents: number;
  readonly maxStreamBytes: number;
  readonly maxKeptBytes: number;
  readonly resumeWindowMs: number;
  readonly streamRetryMs: number;
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
  maxInputBytes: true,
  maxPendingAsks: true,
  maxBindings: true,
  bindingIdleMs: true,
  maxDurableBindings: true,
  durableBindings: true,
  maxSubscriptions: true,
  maxResourceSubscriptions: true,
  subscribeTimeoutMs: true,
  maxSessions: true,
  sessionIdleMs: true,
  maxStreamEvents: true,
  maxStreamBytes: true,
  maxKeptBytes: true,
  resumeWindowMs: true,
  streamRetryMs: true,
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
const MINUTE_MS = 60 * 1000;
const DAY_MS = 24 * 60 * MINUTE_MS;

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
    staleKey: `${productPrefix}/stale`,
    connectorMetaKey: `${productPrefix}/connector`,
    allowedOrigins: options.allowedOrigins ?? [],
    maxBodyBytes: countOption("maxBodyBytes", options.maxBodyBytes, 4 * MIB),
    maxArgumentsBytes: countOption("maxArgumentsBytes", options.maxArgumentsBytes, 256 * KIB),
    maxInputBytes: countOption("maxInputBytes", options.maxInputBytes, MIB),
    maxPendingAsks: countOption("maxPendingAsks", options.maxPendingAsks, 8),
    maxBindings: countOption("maxBindings", options.maxBindings, 256),
    bindingIdleMs: durationOption("bindingIdleMs", options.bindingIdleMs, DAY_MS),
    maxDurableBindings: countOption("maxDurableBindings", options.maxDurableBindings, 64),
    durableBindings: options.durableBindings ?? createMemoryBindingRows(),
    maxSubscriptions: countOption("maxSubscriptions", options.maxSubscriptions, 32),
    maxResourceSubscriptions: countOption("maxResourceSubscriptions", options.maxResourceSubscriptions, 64),
    subscribeTimeoutMs: durationOption("subscribeTimeoutMs", options.subscribeTimeoutMs, 10_000),
    maxSessions: countOption("maxSessions", options.maxSessions, 256),
    sessionIdleMs: durationOption("sessionIdleMs", options.sessionIdleMs, 30 * MINUTE_MS),
    maxStreamEvents: countOption("maxStreamEvents", options.maxStreamEvents, 256),
    maxStreamBytes: countOption("maxStreamBytes", options.maxStreamBytes, MIB),
    maxKeptBytes: countOption("maxKeptBytes", options.maxKeptBytes, 64 * MIB),
    resumeWindowMs: durationOption("resumeWindowMs", options.resumeWindowMs, MINUTE_MS),
    streamRetryMs: durationOption("streamRetryMs", options.streamRetryMs, 1_000),
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
