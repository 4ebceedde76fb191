import { createRequire } from "node:module";
import type { LookupFunction } from "node:net";
import type { SecureContext } from "node:tls";
import type * as Undici from "undici";
import buildConnector from "undici/lib/core/connect.js";
import Pool from "undici/lib/dispatcher/pool.js";
import { refuseOption } from "../options.js";
import { guardConnector, guardLookup } from "./address-guard.js";
import { systemClock } from "./clock.js";
import { type ConnectionConfig, parseProxy } from "./connection-options.js";
import {
  CONNECT_ATTEMPT_MS,
  CONNECT_PATIENCE_MS,
  IDLE_CONNECTION_MS,
  KEEP_ALIVE_MARGIN_MS,
} from "./connection-times.js";
import { isLoopback } from "./endpoint.js";
import { Http2Dispatcher } from "./http2-dispatcher.js";

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
  readonly socketPath?: string | undefined;
  /** Ends the sockets that are still connecting, which a pool leaves alone when it is destroyed. */
  readonly signal: AbortSignal;
}

/**
 * Makes what dispatches to one origin: a pool, an agent that tunnels through a proxy, or what asks for HTTP/2 first.
 *
 * Throws `invalid_options` when the environment names a proxy that is none, addresses are restricted and a proxy would look
 * them up that is not trusted with it, or HTTP/2 is wanted through a proxy.
 */
export function openDispatcher(options: UndiciDispatcherOptions): Undici.Dispatcher | Http2Dispatcher {
  const { origin, maxConnections, connection, signal, socketPath } = options;
  const { allowedAddresses, lookup, proxyContext, serverContext, trustsProxy } = connection;
  const settings = { ...POOL, connections: Number.isFinite(maxConnections) ? maxConnections : null };
  const place = socketPath === undefined ? {} : { socketPath };
  const attempt = { timeout: CONNECT_ATTEMPT_MS, signal, ...place };
  const toServer = { ...attempt, ...lookupOf(connection), ...contextOf(serverContext) };
  const connect = allowedAddresses === "any" ? toServer : guardConnector(allowedAddresses, buildConnector(toServer));
  const proxy = socketPath === undefined ? proxyFor(origin, connection.proxy) : false;
  if (proxy === false) {
    if (connection.http2 && origin.startsWith("https:")) return openHttp2(options, settings, toServer);
    return new Pool(origin, { ...settings, connect });
  }
  if (connection.http2) refuseOption("http2", "can't be had through a proxy");
  if (allowedAddresses !== "any" && !trustsProxy)
    refuseOption("allowedAddresses", "can't be kept through a proxy, which looks names up");
  const { EnvHttpProxyAgent, ProxyAgent }: typeof Undici = createRequire(import.meta.url)("undici");
  const proxied = {
    ...settings,
    connect,
    requestTls: toServer,
    // The proxy was configured, wherever it is.
    proxyTls: { ...attempt, ...lookupOf({ allowedAddresses: "any", lookup }), ...contextOf(proxyContext) },
    clientFactory: (url: URL, given: object) => new Pool(url, { ...POOL, ...given }),
  };
  if (proxy !== "environment") return new ProxyAgent({ ...proxied, ...tokenOf(proxy), uri: proxy.href });
  return new EnvHttpProxyAgent({ ...proxied, ...tokenOf(environmentProxy(origin)) });
}

/** Only what can be negotiated is; a server that chooses HTTP/1.1 is spoken to by a pool, which takes that first socket. */
function openHttp2(
  { origin, maxConnections, connection: { allowedAddresses } }: UndiciDispatcherOptions,
  settings: Undici.Pool.Options,
  toServer: Undici.buildConnector.BuildOptions,
): Http2Dispatcher {
  const guard = (connect: Undici.buildConnector.connector): Undici.buildConnector.connector =>
    allowedAddresses === "any" ? connect : guardConnector(allowedAddresses, connect);
  return new Http2Dispatcher({
    origin,
    maxConnections,
    patienceMs: CONNECT_PATIENCE_MS,
    clock: systemClock,
    connect: guard(buildConnector({ ...toServer, allowH2: true })),
    openPlain(socket) {
      let first: typeof socket | undefined = socket;
      const further = guard(buildConnector(toServer));
      return new Pool(origin, {
        ...settings,
        connect(to, callback) {
          const given = first;
          first = undefined;
          if (given === undefined || given.destroyed) further(to, callback);
          // A client that is called back at once forgets what waits.
          else queueMicrotask(() => callback(null, given));
        },
      });
    },
  });
}

function lookupOf({ allowedAddresses, lookup }: Pick<ConnectionConfig, "allowedAddresses" | "lookup">): {
  lookup?: LookupFunction;
} {
  if (allowedAddresses !== "any") return { lookup: guardLookup(allowedAddresses, lookup) };
  return lookup === undefined ? {} : { lookup };
}

/** What undici makes of a proxy's userinfo only when there is a password, too. */
function tokenOf(proxy: URL | undefined): { token?: string } {
  if (proxy === undefined || proxy.username === "") return {};
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { token: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** The proxy that the environment names for an origin, in undici's order. */
function environmentProxy(origin: string): URL | undefined {
  const forHttp = ["http_proxy", "HTTP_PROXY"];
  for (const name of origin.startsWith("https:") ? ["https_proxy", "HTTPS_PROXY", ...forHttp] : forHttp) {
    const value = process.env[name];
    if (value !== undefined && value !== "") return parseProxy(value, name);
  }
  return undefined;
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
