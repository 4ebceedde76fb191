import { setMaxListeners } from "node:events";
import Pool from "undici/lib/dispatcher/pool.js";
import { refuseOption, refuseUnknownOptions } from "../options.js";
import {
  CONNECTION_OPTION_NAMES,
  type ConnectionConfig,
  type ConnectionOptions,
  resolveConnectionOptions,
} from "./connection-options.js";
import { DecodedExchange } from "./decoded-exchange.js";
import type { Exchange, ExchangeCapability, ExchangeHandler, ExchangeRequest } from "./exchange.js";
import { Http2Dispatcher } from "./http2-dispatcher.js";
import { openDispatcher } from "./undici-dispatcher.js";

const CAPABILITIES: ReadonlySet<ExchangeCapability> = new Set([
  "admitsSynchronously",
  "connectDeadline",
  "cookies",
  "http2",
  "pinsAddress",
  "proxy",
  "tls",
]);

export interface UndiciExchangeOptions extends ConnectionOptions {
  readonly origin: string;
  /** Connections at once. Further requests wait for one. */
  readonly maxConnections: number;
  /** The Unix socket that stands for the origin, which then only names what is spoken to. Not through a proxy. */
  readonly socketPath?: string | undefined;
}

const OPTION_NAMES: readonly (keyof UndiciExchangeOptions)[] = [
  ...CONNECTION_OPTION_NAMES,
  "maxConnections",
  "origin",
  "socketPath",
];

/** The exchange over undici's own dispatchers, and over HTTP/2 where it is wanted. Throws `invalid_options`. */
export function createUndiciExchange(options: UndiciExchangeOptions): Exchange {
  refuseUnknownOptions(options, OPTION_NAMES);
  const { origin, maxConnections, socketPath } = options;
  if (socketPath !== undefined) checkSocket(options);
  return openUndiciExchange(origin, maxConnections, resolveConnectionOptions(options), socketPath);
}

/** The same, from options that are resolved. Throws `invalid_options` for a proxy that can't be used. */
export function openUndiciExchange(
  origin: string,
  maxConnections: number,
  connection: ConnectionConfig,
  socketPath?: string,
): Exchange {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const dispatcher = openDispatcher({ origin, maxConnections, connection, socketPath, signal: ending.signal });
  // A proxy's agent is told the origin; the others have it.
  const isAgent = !(dispatcher instanceof Pool || dispatcher instanceof Http2Dispatcher);
  return {
    origin,
    capabilities: CAPABILITIES,
    dispatch(request: ExchangeRequest, handler: ExchangeHandler): void {
      const { method, path, headers, body } = request;
      dispatcher.dispatch(isAgent ? { origin, method, path, headers, body } : request, new DecodedExchange(handler));
    },
    async destroy() {
      const destroyed = dispatcher.destroy();
      ending.abort();
      await destroyed;
    },
  };
}

function checkSocket({ allowedAddresses = "any", http2 = false, lookup, proxy = false }: UndiciExchangeOptions): void {
  const isPlain = allowedAddresses === "any" && !http2 && lookup === undefined && proxy === false;
  if (!isPlain) refuseOption("socketPath", "excludes allowedAddresses, http2, lookup and proxy");
}
