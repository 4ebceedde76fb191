import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../options.js";
import type { ScriptOrder } from "./script-run.js";
import { systemTestClock, type TestClock } from "./test-clock.js";

/**
 * What becomes of a connection: it is served, closed or reset as soon as it is accepted, or accepted and never heard:
 * with TLS, a handshake that nobody answers.
 */
export type ConnectionBehaviour = "serve" | "close" | "reset" | "silent";

/** A certificate and its key, as PEM texts. */
export interface TlsIdentity {
  readonly key: string;
  readonly cert: string;
}

export interface ScriptedServerOptions {
  /** Address to bind. `127.0.0.1` when left out. */
  readonly host?: string | undefined;
  /** `0`, which is also what counts when left out, takes a free port. */
  readonly port?: number | undefined;
  /** The path in `url`. `/mcp` when left out. Requests to any path are served. */
  readonly path?: string | undefined;
  /** Serves https. */
  readonly tls?: TlsIdentity | undefined;
  /** Whether exchanges come in the order of the script. `"strict"` when left out. */
  readonly order?: ScriptOrder | undefined;
  /** What becomes of the first connections, in order; those after them are served. None when left out. */
  readonly connections?: readonly ConnectionBehaviour[] | undefined;
  /** Closes a connection when no request came for so long. `Infinity` when left out. */
  readonly closeIdleAfterMs?: number | undefined;
  /** The most bytes that one request may have. 64 MiB when left out. */
  readonly maxRequestBytes?: number | undefined;
  /** The most requests; more are violations of the script. 100,000 when left out. */
  readonly maxRequests?: number | undefined;
  readonly clock?: TestClock | undefined;
}

/** {@link ScriptedServerOptions} with nothing left open. */
export interface ScriptedServerConfig {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly tls: TlsIdentity | undefined;
  readonly order: ScriptOrder;
  readonly connections: readonly ConnectionBehaviour[];
  readonly closeIdleAfterMs: number;
  readonly maxRequestBytes: number;
  readonly maxRequests: number;
  readonly clock: TestClock;
}

const KNOWN: readonly (keyof ScriptedServerOptions)[] = [
  "clock",
  "closeIdleAfterMs",
  "connections",
  "host",
  "maxRequestBytes",
  "maxRequests",
  "order",
  "path",
  "port",
  "tls",
];

/** Fills in defaults. Throws `invalid_options` for an unknown name or a value out of range. */
export function resolveScriptedServerOptions(options: ScriptedServerOptions): ScriptedServerConfig {
  refuseUnknownOptions(options, KNOWN);
  const path = options.path ?? "/mcp";
  const port = options.port ?? 0;
  return {
    host: options.host ?? "127.0.0.1",
    port:
      Number.isInteger(port) && port >= 0 && port <= 65_535 ? port : refuseOption("port", "must be from 0 to 65535"),
    path: path.startsWith("/") ? path : refuseOption("path", "must begin with a slash"),
    tls: options.tls,
    order: options.order ?? "strict",
    connections: options.connections ?? [],
    closeIdleAfterMs: durationOption("closeIdleAfterMs", options.closeIdleAfterMs, Infinity),
    maxRequestBytes: countOption("maxRequestBytes", options.maxRequestBytes, 64 * 1024 * 1024),
    maxRequests: countOption("maxRequests", options.maxRequests, 100_000),
    clock: options.clock ?? systemTestClock,
  };
}
