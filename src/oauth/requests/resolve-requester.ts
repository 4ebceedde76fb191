import { lookup as systemLookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import { type AllowedAddresses, type Clock, isLoopback, resolveTransportOptions } from "../../transport/index.js";
import type { OAuthTransportOptions, RequesterConfig } from "../oauth-options.js";
import { addressOf, areAllowed } from "./host-address.js";

const OPTION_NAMES: readonly (keyof OAuthTransportOptions)[] = [
  "allowPrivateAddresses",
  "ca",
  "lookup",
  "maxAnswerBytes",
  "proxy",
  "requestTimeoutMs",
];

/**
 * Applies the defaults, and decides for one MCP endpoint which addresses its authorization may reach: public ones; loopback as well when
 * the endpoint is there; any when `allowPrivateAddresses` permits it and the endpoint's own host is, or stands for, an address that is
 * neither. A host that can't be looked up stands for nothing, and neither does a name where everything goes through one proxy, which alone
 * may look it up. With that option a name that stands for loopback counts as loopback.
 *
 * Rejects with `invalid_options`.
 */
export async function resolveRequester(
  endpoint: URL,
  options: OAuthTransportOptions,
  clock: Clock,
): Promise<RequesterConfig> {
  refuseUnknownOptions(options, OPTION_NAMES);
  const { allowPrivateAddresses = false, ca, lookup, proxy } = options;
  if (typeof allowPrivateAddresses !== "boolean") refuseOption("allowPrivateAddresses", "must be true or false");
  const parts = {
    ca,
    lookup,
    proxy,
    requestTimeoutMs: durationOption("requestTimeoutMs", options.requestTimeoutMs, 30_000),
    maxAnswerBytes: countOption("maxAnswerBytes", options.maxAnswerBytes, 1024 * 1024),
    clock,
  };
  return { ...parts, allowedAddresses: await decideAddresses(endpoint, allowPrivateAddresses, parts) };
}

async function decideAddresses(
  endpoint: URL,
  allowPrivateAddresses: boolean,
  { ca, lookup, proxy }: Pick<RequesterConfig, "ca" | "lookup" | "proxy">,
): Promise<AllowedAddresses> {
  // Certificates and the like are looked at whatever comes of it.
  const { connection } = resolveTransportOptions({ ca, lookup, proxy });
  if (isLoopback(endpoint.hostname)) return "public_or_loopback";
  if (!allowPrivateAddresses) return "public";
  const own = addressOf(endpoint);
  // With the environment's proxy it may be one that is reached without.
  const isLookedUp = own === undefined && !(connection.proxy instanceof URL);
  const found = isLookedUp ? await addressesOf(endpoint.hostname, lookup ?? systemLookup) : [];
  const addresses = own === undefined ? found : [own];
  if (addresses.length === 0 || (await areAllowed(addresses, "public"))) return "public";
  return (await areAllowed(addresses, "public_or_loopback")) ? "public_or_loopback" : "any";
}

function addressesOf(host: string, lookup: LookupFunction): Promise<readonly string[]> {
  return new Promise((resolve) => {
    lookup(host, { all: true }, (error, found) => {
      if (error !== null && error !== undefined) resolve([]);
      else resolve(Array.isArray(found) ? found.map(({ address }) => address) : [found]);
    });
  });
}
