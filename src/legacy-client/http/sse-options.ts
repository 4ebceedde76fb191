import { refuseUnknownOptions } from "../../options.js";
import {
  addHeaders,
  type Authorize,
  type HeaderSources,
  parseEndpoint,
  resolveHeaderSources,
  resolveTransportOptions,
  TRANSPORT_OPTION_NAMES,
  type TransportConfig,
  type TransportOptions,
} from "../../transport/index.js";
import {
  LEGACY_CLIENT_OPTION_NAMES,
  type LegacyClientConfig,
  type LegacyClientOptions,
  resolveLegacyClientOptions,
} from "../client-options.js";

/** How a {@link LegacySSEClient} is set up. `connectTimeoutMs` also bounds the wait for the server's `endpoint` event. */
export interface LegacySSEClientOptions extends TransportOptions, LegacyClientOptions {
  /** The address of the stream: https, or http on loopback. */
  readonly endpoint: string | URL;
  /** Further headers of every request: values, or where to get them. */
  readonly headers?: HeaderSources | undefined;
  /** Gives the headers that authorize a request; called once for each, as late as possible. */
  readonly authorize?: Authorize | undefined;
}

/** {@link LegacySSEClientOptions} with nothing left open. */
export interface LegacySSEConfig extends LegacyClientConfig {
  readonly url: URL;
  readonly transport: TransportConfig;
  readonly authorize: Authorize | undefined;
  /** The caller's own headers, as a flat list. */
  readonly headers: readonly string[];
}

const OPTION_NAMES: readonly (keyof LegacySSEClientOptions)[] = [
  ...TRANSPORT_OPTION_NAMES,
  ...LEGACY_CLIENT_OPTION_NAMES.filter((name) => name !== "clock"),
  "authorize",
  "endpoint",
  "headers",
];

/** Applies the defaults. Throws `invalid_options`, `invalid_url`, `invalid_header`, `unsupported_by_exchange` (`not_sent`). */
export function resolveLegacySSEOptions(options: LegacySSEClientOptions): LegacySSEConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const transport = resolveTransportOptions(options);
  const { fixed, authorize } = resolveHeaderSources(options.headers ?? {}, options.authorize);
  const headers: string[] = [];
  addHeaders(headers, fixed);
  const url = parseEndpoint(options.endpoint, transport);
  return {
    ...resolveLegacyClientOptions(options, url.origin),
    url,
    transport,
    authorize,
    headers,
  };
}
