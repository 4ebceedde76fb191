import { choiceOption, refuseUnknownOptions } from "../options.js";
import { MODERN_REVISION } from "../protocol/index.js";
import {
  addHeaders,
  type Authorize,
  type HeaderSources,
  parseEndpoint,
  refuseCookie,
  resolveHeaderSources,
  resolveTransportOptions,
  TRANSPORT_OPTION_NAMES,
  type TransportOptions,
} from "../transport/index.js";
import {
  functionOption,
  MODERN_OPTION_NAMES,
  type ModernClientConfig,
  type ModernClientOptions,
  resolveCache,
  resolveModernClientOptions,
} from "./client-options.js";
import type { HttpChannelConfig } from "./http-channel.js";
import type { ResponseCacheOptions } from "./response-cache.js";

/** How a {@link ModernStreamableHTTPClient} is set up. */
export interface ModernStreamableHTTPClientOptions extends ModernClientOptions, TransportOptions {
  /** The MCP endpoint: https, or http on loopback. */
  readonly endpoint: string | URL;
  /** Keeps results for as long as the server calls them fresh. Default: nothing is kept. */
  readonly cache?: boolean | ResponseCacheOptions | undefined;
  /**
   * What a call of a tool does whose definition is not known: `list` (default) finds it first, since arguments may have to
   * travel in headers; `call` calls at once, and lists when the server misses them.
   */
  readonly unknownTools?: "list" | "call" | undefined;
  /** Further headers of every request: values, or where to get them. */
  readonly headers?: HeaderSources | undefined;
  /** Gives the headers that authorize a request; called once for each, as late as possible. */
  readonly authorize?: Authorize | undefined;
}

export interface ModernHttpConfig {
  readonly client: ModernClientConfig;
  readonly channel: HttpChannelConfig;
}

const OPTION_NAMES: readonly (keyof ModernStreamableHTTPClientOptions)[] = [
  ...MODERN_OPTION_NAMES,
  ...TRANSPORT_OPTION_NAMES,
  "authorize",
  "cache",
  "endpoint",
  "headers",
  "unknownTools",
];

/**
 * Applies the defaults and checks what can be checked.
 *
 * Throws `invalid_options`, `invalid_url`, `invalid_header` (all `not_sent`).
 */
export function resolveModernHttpOptions(options: ModernStreamableHTTPClientOptions): ModernHttpConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const transport = resolveTransportOptions(options);
  const headers = [
    "Content-Type",
    "application/json",
    "Accept",
    "application/json, text/event-stream",
    "MCP-Protocol-Version",
    MODERN_REVISION,
  ];
  if (transport.cookies !== undefined) refuseCookie(options.headers ?? {});
  const { fixed, authorize } = resolveHeaderSources(
    options.headers ?? {},
    functionOption("authorize", options.authorize, undefined),
  );
  addHeaders(headers, fixed);
  const url = parseEndpoint(options.endpoint, transport);
  const { clock } = transport;
  const client = resolveModernClientOptions(options, {
    clock,
    deadlines: transport,
    honoursHeaders: true,
    unknownTools: choiceOption("unknownTools", options.unknownTools, ["list", "call"]),
    cache: resolveCache(options.cache, authorize === undefined ? onlyContext : undefined, clock),
    origin: url.origin,
  });
  return { client, channel: { url, transport, authorize, headers } };
}

function onlyContext(): string {
  return "";
}
