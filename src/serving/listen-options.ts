import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { durationOption, refuseOption, refuseUnknownOptions } from "../options.js";

export interface ListenOptions {
  /** Address to bind. `127.0.0.1` when left out. */
  readonly host?: string | undefined;
  /** `0`, which is also what counts when left out, takes a free port. */
  readonly port?: number | undefined;
  /** A Unix socket in place of host and port, made for its owner only. One that a dead server left is taken over. */
  readonly socketPath?: string | undefined;
  /** How long the head of a request may take. 5,000 when left out. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long a whole request, body included, may take to come in. 60,000 when left out. */
  readonly requestTimeoutMs?: number | undefined;
  /** How long an idle connection is kept. 60,000 when left out. */
  readonly keepAliveTimeoutMs?: number | undefined;
  /** How long `close` waits for answers that are being written before it cuts them. 2,000 when left out. */
  readonly closeTimeoutMs?: number | undefined;
  /** Takes over a connection that asks to speak another protocol. Without it such a request is an ordinary one. */
  readonly onUpgrade?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
  /**
   * Told when the handler throws or rejects (its caller got 500, or a cut answer), when `onUpgrade` throws (its connection was
   * ended), and when a connection can't be accepted.
   */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

/** {@link ListenOptions} with nothing left open. */
export interface ListenConfig {
  readonly host: string;
  readonly port: number;
  readonly socketPath: string | undefined;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  readonly closeTimeoutMs: number;
  readonly onUpgrade: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void) | undefined;
  readonly onFault: (error: unknown) => void;
}

const KNOWN = [
  "host",
  "port",
  "socketPath",
  "headersTimeoutMs",
  "requestTimeoutMs",
  "keepAliveTimeoutMs",
  "closeTimeoutMs",
  "onUpgrade",
  "onFault",
] as const satisfies readonly (keyof ListenOptions)[];

/** Fills in defaults. Throws `invalid_options` for an unknown name or a number out of range. */
export function resolveListenOptions(options: ListenOptions): ListenConfig {
  refuseUnknownOptions(options, KNOWN);
  const headersTimeoutMs = durationOption("headersTimeoutMs", options.headersTimeoutMs, 5_000);
  const requestTimeoutMs = durationOption("requestTimeoutMs", options.requestTimeoutMs, 60_000);
  return {
    host: options.host ?? "127.0.0.1",
    port: resolvePort(options.port ?? 0),
    socketPath: resolveSocketPath(options),
    headersTimeoutMs,
    // Node refuses a shorter time for the whole than for the head.
    requestTimeoutMs: Math.max(requestTimeoutMs, headersTimeoutMs),
    keepAliveTimeoutMs: durationOption("keepAliveTimeoutMs", options.keepAliveTimeoutMs, 60_000),
    closeTimeoutMs: durationOption("closeTimeoutMs", options.closeTimeoutMs, 2_000),
    onUpgrade: options.onUpgrade,
    onFault: options.onFault ?? (() => undefined),
  };
}

function resolveSocketPath({ host, port, socketPath }: ListenOptions): string | undefined {
  if (socketPath === undefined) return undefined;
  if (socketPath === "") refuseOption("socketPath", "must not be empty");
  if (host !== undefined || port !== undefined) refuseOption("socketPath", "excludes host and port");
  return socketPath;
}

function resolvePort(value: number): number {
  return Number.isInteger(value) && value >= 0 && value <= 65_535
    ? value
    : refuseOption("port", "must be a whole number from 0 to 65535");
}
