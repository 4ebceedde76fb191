import { choiceOption, refuseUnknownOptions } from "../options.js";
import { MODERN_REVISION } from "../protocol/index.js";
import { ENDPOINT_OPTION_NAMES, type EndpointOptions, resolveEndpointOptions } from "../transport/index.js";
import {
  MODERN_OPTION_NAMES,
  type ModernClientConfig,
  type ModernClientOptions,
  resolveCache,
  resolveModernClientOptions,
} from "./client-options.js";
import type { HttpChannelConfig } from "./http-channel.js";
import type { ResponseCacheOptions } from "./response-cache.js";

/** How a {@link ModernStreamableHTTPClient} is set up. */
export interface ModernStreamableHTTPClientOptions extends ModernClientOptions, EndpointOptions {
  /** Keeps results for as long as the server calls them fresh. Default: nothing is kept. */
  readonly cache?: boolean | ResponseCacheOptions | undefined;
  /**
   * What a call of a tool does whose definition is not known: `list` (default) finds it first, since arguments may have to
   * travel in headers; `call` calls at once, and lists when the server misses them.
   */
  readonly unknownTools?: "list" | "call" | undefined;
}

export interface ModernHttpConfig {
  readonly client: ModernClientConfig;
  readonly channel: HttpChannelConfig;
}

const OPTION_NAMES: readonly (keyof ModernStreamableHTTPClientOptions)[] = [
  ...MODERN_OPTION_NAMES,
  ...ENDPOINT_OPTION_NAMES,
  "cache",
  "unknownTools",
];

/** What every message says of itself. Source: 2026-07-28, Streamable HTTP, Sending Messages. */
const MESSAGE_HEADERS: readonly string[] = [
  "Content-Type",
  "application/json",
  "Accept",
  "application/json, text/event-stream",
  "MCP-Protocol-Version",
  MODERN_REVISION,
];

/**
 * Applies the defaults and checks what can be checked.
 *
 * Throws `invalid_options`, `invalid_url`, `invalid_header` (all `not_sent`).
 */
export function resolveModernHttpOptions(options: ModernStreamableHTTPClientOptions): ModernHttpConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const endpoint = resolveEndpointOptions(options);
  const { url, transport, authorize } = endpoint;
  const { clock } = transport;
  const client = resolveModernClientOptions(options, {
    clock,
    deadlines: transport,
    honoursHeaders: true,
    unknownTools: choiceOption("unknownTools", options.unknownTools, ["list", "call"]),
    cache: resolveCache(options.cache, authorize === undefined ? onlyContext : undefined, clock),
    origin: url.origin,
  });
  return { client, channel: { ...endpoint, headers: [...MESSAGE_HEADERS, ...endpoint.headers] } };
}

function onlyContext(): string {
  return "";
}
