import { refuseUnknownOptions } from "../../options.js";
import {
  ENDPOINT_OPTION_NAMES,
  type EndpointConfig,
  type EndpointOptions,
  resolveEndpointOptions,
} from "../../transport/index.js";
import {
  LEGACY_CLIENT_OPTION_NAMES,
  type LegacyClientConfig,
  type LegacyClientOptions,
  resolveLegacyClientOptions,
} from "../client-options.js";

/** How a {@link LegacySSEClient} is set up. `connectTimeoutMs` also bounds the wait for the server's `endpoint` event. */
export interface LegacySSEClientOptions extends EndpointOptions, LegacyClientOptions {
  /** The address of the stream: https, or http on loopback. */
  readonly endpoint: string | URL;
}

/** {@link LegacySSEClientOptions} with nothing left open. */
export interface LegacySSEConfig extends LegacyClientConfig, EndpointConfig {}

const OPTION_NAMES: readonly (keyof LegacySSEClientOptions)[] = [
  ...ENDPOINT_OPTION_NAMES,
  ...LEGACY_CLIENT_OPTION_NAMES.filter((name) => name !== "clock"),
];

/** Applies the defaults. Throws `invalid_options`, `invalid_url`, `invalid_header`, `unsupported_by_exchange` (`not_sent`). */
export function resolveLegacySSEOptions(options: LegacySSEClientOptions): LegacySSEConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const endpoint = resolveEndpointOptions(options);
  return { ...resolveLegacyClientOptions(options, endpoint.url.origin), ...endpoint };
}
