import type { Authorize, Authorizer } from "./authorize.js";
import { parseEndpoint } from "./endpoint.js";
import { type HeaderSources, resolveHeaderSources } from "./header-sources.js";
import { addHeaders, refuseCookie } from "./headers.js";
import { resolveAuthorizer } from "./resolve-authorizer.js";
import {
  resolveTransportOptions,
  TRANSPORT_OPTION_NAMES,
  type TransportConfig,
  type TransportOptions,
} from "./transport-options.js";

/** Where a server is that is spoken to over HTTP, and what every request to it carries. */
export interface EndpointOptions extends TransportOptions {
  /** The MCP endpoint: https, or http on loopback. */
  readonly endpoint: string | URL;
  /** Further headers of every request: values, or where to get them. */
  readonly headers?: HeaderSources | undefined;
  /**
   * Gives the headers that authorize a request; called once for each, as late as possible. One with `onRefused` is asked again
   * whether a request that was answered with 401 or 403 is made once more.
   */
  readonly authorize?: Authorize | Authorizer | undefined;
}

/** {@link EndpointOptions} with nothing left open. */
export interface EndpointConfig {
  readonly url: URL;
  readonly transport: TransportConfig;
  readonly authorize: Authorizer | undefined;
  /** The caller's own headers, as a flat list. */
  readonly headers: readonly string[];
}

/** The names of {@link EndpointOptions}, for the check of unknown ones. */
export const ENDPOINT_OPTION_NAMES: readonly (keyof EndpointOptions)[] = [
  ...TRANSPORT_OPTION_NAMES,
  "authorize",
  "endpoint",
  "headers",
];

/**
 * Applies the defaults and checks what can be checked.
 *
 * Throws `invalid_options`, `invalid_url`, `invalid_header`, `unsupported_by_exchange` (all `not_sent`).
 */
export function resolveEndpointOptions(options: EndpointOptions): EndpointConfig {
  const transport = resolveTransportOptions(options);
  const { headers: sources = {} } = options;
  if (transport.cookies !== undefined) refuseCookie(sources);
  const { fixed, authorizer } = resolveHeaderSources(sources, resolveAuthorizer(options.authorize));
  const headers: string[] = [];
  addHeaders(headers, fixed);
  return { url: parseEndpoint(options.endpoint, transport), transport, authorize: authorizer, headers };
}
