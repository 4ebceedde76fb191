import { createRequire } from "node:module";
import type { LookupFunction } from "node:net";
import type { SecureContext } from "node:tls";
import type * as Undici from "undici";
import buildConnector from "undici/lib/core/connect.js";
import Pool from "undici/lib/dispatcher/pool.js";
import { refuseOption } from "../options.js";
import { guardConnector, guardLookup } from "./address-guard.js";
import { type ConnectionConfig, parseProxy } from "./connection-options.js";
import { isLoopback } from "./endpoint.js";

/** An idle connection is dropped before typical servers drop it (5 s), so that few requests race with their FIN. */
const IDLE_CONNECTION_MS = 4_000;
/** How much earlier than the server's own `Keep-Alive` says. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

/**
 * When an attempt to connect that nobody waits for any more gives up its socket. Calls have their own deadlines, and
 * longer ones than this are cut.
 */
const CONNECT_ATTEMPT_MS = 120_000;

/** The library's own timers for headers and bodies are off: deadlines are kept in one place, and it is not here. */
const POOL = {
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: IDLE_CONNECTION_MS,
  keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
  pipelining: 1,
};

export interface UndiciDispatcherOptions {
  readonly origin: string;
  /** Connections at once. Further requests wait for one. */
  readonly maxConnections: number;
  readonly connection: ConnectionConfig;
  /** Ends the sockets that are still connecting, which a pool leaves alone when it is destroyed. */
  readonly signal: AbortSignal;
}

/**
 * Makes what dispatches to one origin: a pool, or an agent that tunnels through a proxy.
 *
 * Throws `invalid_options` when the environment names a proxy that is none, or addresses are restricted and a proxy would
 * look them up.
 */
export function openUndiciDispatcher(options: UndiciDispatcherOptions): Undici.Dispatcher {
  const { origin, maxConnections, connection, signal } = options;
  const { allowedAddresses, serverContext, proxyContext } = connection;
  const settings = { ...POOL, connections: Number.isFinite(maxConnections) ? maxConnections : null };
  const attempt = { timeout: CONNECT_ATTEMPT_MS, signal, ...lookupOf(connection) };
  const toServer = { ...attempt, ...contextOf(serverContext) };
  const connect = allowedAddresses === "any" ? toServer : guardConnector(allowedAddresses, buildConnector(toServer));
  const proxy = proxyFor(origin, connection.proxy);
  if (proxy === false) return new Pool(origin, { ...settings, connect });
  if (allowedAddresses !== "any")
    refuseOption("allowedAddresses", "can't be kept through a proxy, which looks names up");
  const { EnvHttpProxyAgent, ProxyAgent }: typeof Undici = createRequire(import.meta.url)("undici");
  const proxied = {
    ...settings,
    connect,
    requestTls: toServer,
    proxyTls: { ...attempt, ...contextOf(proxyContext) },
    clientFactory: (url: URL, given: object) => new Pool(url, { ...POOL, ...given }),
  };
  return proxy === "environment" ? new EnvHttpProxyAgent(proxied) : new ProxyAgent({ ...proxied, uri: proxy.href });
}

function lookupOf({ allowedAddresses, lookup }: ConnectionConfig): { lookup?: LookupFunction } {
  if (allowedAddresses !== "any") return { lookup: guardLookup(allowedAddresses, lookup) };
  return lookup === undefined ? {} : { lookup };
}

function contextOf(secureContext: SecureContext | undefined): { secureContext?: SecureContext } {
  return secureContext === undefined ? {} : { secureContext };
}

/** The proxy that the configuration means for this origin. */
function proxyFor(origin: string, proxy: ConnectionConfig["proxy"]): ConnectionConfig["proxy"] {
  if (proxy !== "environment") return proxy;
  // No proxy reaches this machine's own loopback.
  if (isLoopback(new URL(origin).hostname)) return false;
  let isNamed = false;
  for (const name of ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"]) {
    const value = process.env[name];
    if (value === undefined || value === "") continue;
    parseProxy(value, name);
    isNamed = true;
  }
  return isNamed ? proxy : false;
}
