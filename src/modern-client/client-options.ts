import {
  type Diagnostic,
  type Implementation,
  type JsonObject,
  LIST_WALK_LIMITS,
  type ListWalkLimits,
  MODERN_REVISION,
} from "../protocol/index.js";
import { countOption, refuseOption, refuseUnknownOptions } from "../options.js";
import {
  addHeaders,
  type Authorize,
  type HeaderMap,
  parseEndpoint,
  resolveTransportOptions,
  TRANSPORT_OPTION_NAMES,
  type TransportConfig,
  type TransportOptions,
} from "../transport/index.js";
import { composeClientMeta, type ClientMeta } from "./request-meta.js";

/** How a {@link ModernStreamableHTTPClient} is set up. */
export interface ModernStreamableHTTPClientOptions extends TransportOptions {
  /** The MCP endpoint: https, or http on loopback. */
  readonly endpoint: string | URL;
  /** Who we say we are, in every request's `_meta`; `false` to say nothing. */
  readonly clientInfo: Implementation | false;
  /** The capabilities declared with every request. Default `{}`. */
  readonly capabilities?: JsonObject | undefined;
  /** Further members of every request's `_meta`. */
  readonly meta?: JsonObject | undefined;
  /** Further headers of every request. */
  readonly headers?: HeaderMap | undefined;
  /** Gives the headers that authorize a request; called once for each, as late as possible. */
  readonly authorize?: Authorize | undefined;
  /** Told of everything tolerated, as it happens. */
  readonly onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined;
  /** Pages of one list walk. Default 64. */
  readonly maxPages?: number | undefined;
  /** Entries of one list walk. Default 10,000. */
  readonly maxItems?: number | undefined;
  /** Bytes of one list walk. Default 64 MiB. */
  readonly maxListBytes?: number | undefined;
}

export interface ModernClientConfig {
  readonly url: URL;
  readonly transport: TransportConfig;
  readonly authorize: Authorize | undefined;
  readonly meta: ClientMeta;
  /** The headers that every request has, as a flat list. */
  readonly headers: readonly string[];
  readonly walk: ListWalkLimits;
  /** Never throws. */
  readonly onDiagnostic: (diagnostic: Diagnostic) => void;
}

const OPTION_NAMES: readonly (keyof ModernStreamableHTTPClientOptions)[] = [
  ...TRANSPORT_OPTION_NAMES,
  "authorize",
  "capabilities",
  "clientInfo",
  "endpoint",
  "headers",
  "maxItems",
  "maxListBytes",
  "maxPages",
  "meta",
  "onDiagnostic",
];

/**
 * Applies the defaults and checks what can be checked.
 *
 * Throws `invalid_options`, `invalid_url`, `invalid_header` (all `not_sent`).
 */
export function resolveModernClientOptions(options: ModernStreamableHTTPClientOptions): ModernClientConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const transport = resolveTransportOptions(options);
  const { clientInfo } = options;
  if (clientInfo !== false && (typeof clientInfo?.name !== "string" || typeof clientInfo.version !== "string")) {
    return refuseOption("clientInfo", "must have a name and a version, or be false");
  }
  const headers = [
    "Content-Type",
    "application/json",
    "Accept",
    "application/json, text/event-stream",
    "MCP-Protocol-Version",
    MODERN_REVISION,
  ];
  addHeaders(headers, options.headers ?? {});
  return {
    url: parseEndpoint(options.endpoint, transport),
    transport,
    authorize: options.authorize,
    meta: composeClientMeta({ clientInfo, capabilities: options.capabilities ?? {}, further: options.meta ?? {} }),
    headers,
    walk: {
      maxPages: countOption("maxPages", options.maxPages, LIST_WALK_LIMITS.maxPages),
      maxItems: countOption("maxItems", options.maxItems, LIST_WALK_LIMITS.maxItems),
      maxListBytes: countOption("maxListBytes", options.maxListBytes, LIST_WALK_LIMITS.maxListBytes),
    },
    onDiagnostic: carefully(options.onDiagnostic ?? ignore),
  };
}

/** What a listener throws must not become the fate of the calls that it listens to. */
function carefully(listener: (diagnostic: Diagnostic) => void): (diagnostic: Diagnostic) => void {
  return (diagnostic) => {
    try {
      listener(diagnostic);
    } catch {
      // The diagnostic is with its call as well.
    }
  };
}

function ignore(): void {}
