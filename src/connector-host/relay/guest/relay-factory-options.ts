import { functionOption, refuseOption, refuseUnknownOptions } from "../../../options.js";
import type { Implementation } from "../../../protocol/index.js";
import { type Exchange, parseEndpoint } from "../../../transport/index.js";
import type { DirectClientOptions } from "../../factories/index.js";
import { resolveVersionPin } from "../../gateway-route.js";

/** Where the desktop half listens: an origin over TCP, or a Unix socket. */
export type RelayAddress = { readonly url: string | URL } | { readonly socketPath: string };

export interface RelayFactoryOptions {
  /** The desktop half. It is the only place that a guest ever sends a request to. */
  readonly relay: RelayAddress;
  /** The bearer of the guest's lease, or what gives it: asked for each request anew, so that a new lease counts at once. */
  readonly bearer: string | (() => string | Promise<string>);
  /** Who the host says it is. */
  readonly clientInfo: Implementation;
  /** The `_meta` key that pins the release's version, as the desktop half has it. `sh.tutti/connectorVersion` when left out. */
  readonly versionMetaKey?: string | undefined;
  readonly client?: DirectClientOptions | undefined;
  /**
   * Permits a relay over plain http on an address that is not loopback, such as that of a network between host and guest.
   * Bearer and calls can be read by whoever can read that network. Default false.
   */
  readonly allowInsecureHttp?: boolean | undefined;
  /** Makes the exchange of each client with the relay's origin, for ways of one's own to the desktop. undici's when left out. */
  readonly createExchange?: ((origin: string) => Exchange) | undefined;
}

/** {@link RelayFactoryOptions} with nothing left open. */
export interface RelayFactoryConfig {
  readonly origin: string;
  readonly socketPath: string | undefined;
  readonly bearer: () => string | Promise<string>;
  readonly clientInfo: Implementation;
  readonly versionMetaKey: string;
  readonly client: DirectClientOptions;
  readonly allowInsecureHttp: boolean;
  readonly createExchange: ((origin: string) => Exchange) | undefined;
}

const OPTION_NAMES: readonly (keyof RelayFactoryOptions)[] = [
  "allowInsecureHttp",
  "bearer",
  "client",
  "clientInfo",
  "createExchange",
  "relay",
  "versionMetaKey",
];

/** Fills in defaults. Throws `invalid_options` or `invalid_url`. */
export function resolveRelayFactoryOptions(options: RelayFactoryOptions): RelayFactoryConfig {
  refuseUnknownOptions(options, OPTION_NAMES);
  const { allowInsecureHttp = false, bearer, client = {}, clientInfo, createExchange } = options;
  if (typeof allowInsecureHttp !== "boolean") refuseOption("allowInsecureHttp", "must be true or false");
  if (typeof bearer === "string" && bearer === "") refuseOption("bearer", "must not be empty");
  return {
    ...resolveAddress(options.relay, allowInsecureHttp),
    bearer: typeof bearer === "string" ? () => bearer : functionOption("bearer", bearer, () => ""),
    clientInfo,
    versionMetaKey: resolveVersionPin({ versionMetaKey: options.versionMetaKey }).versionMetaKey,
    client,
    allowInsecureHttp,
    createExchange,
  };
}

function resolveAddress(
  relay: RelayAddress,
  allowInsecureHttp: boolean,
): Pick<RelayFactoryConfig, "origin" | "socketPath"> {
  if (typeof relay !== "object" || relay === null) return refuseOption("relay", "must have a url or a socketPath");
  refuseUnknownOptions(relay, ["socketPath", "url"]);
  if ("socketPath" in relay) {
    if ("url" in relay) return refuseOption("relay", "must have a url or a socketPath, not both");
    if (typeof relay.socketPath !== "string" || relay.socketPath === "") {
      return refuseOption("relay", "must have a socketPath that is not empty");
    }
    return { origin: "http://localhost", socketPath: relay.socketPath };
  }
  const url = parseEndpoint(relay.url, { allowInsecureHttp });
  if (url.pathname !== "/" || url.search !== "") return refuseOption("relay", "must have a url without a path");
  return { origin: url.origin, socketPath: undefined };
}
