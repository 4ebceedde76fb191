import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { isRemoteConnectorError } from "../../errors.js";
import { countOption, durationOption, refuseOption, refuseUnknownOptions } from "../../options.js";
import {
  type AllowedAddresses,
  type Clock,
  guardLookup,
  HttpEndpoint,
  isLoopback,
  resolveTransportOptions,
} from "../../transport/index.js";
import type { OAuthTransportOptions, RequesterConfig } from "../oauth-options.js";

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
 * neither. A host that can't be looked up stands for nothing. With that option a name that stands for loopback counts as loopback.
 *
 * Nobody here sees the addresses behind a proxy, so that one can be used only with `allowPrivateAddresses`, and then for all of them.
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
  const isProxied = await usesProxy(endpoint, { ca, lookup, proxy });
  if (isLoopback(endpoint.hostname)) return "public_or_loopback";
  if (!allowPrivateAddresses) return "public";
  if (isProxied) return "any";
  const host = endpoint.hostname.replace(/^\[(.*)\]$/, "$1");
  const addresses = await addressesOf(host, lookup ?? systemLookup);
  if (addresses.length === 0 || (await areAllowed(addresses, "public"))) return "public";
  return (await areAllowed(addresses, "public_or_loopback")) ? "public_or_loopback" : "any";
}

/** Only the transport knows whether a proxy applies: it does if addresses can't be guarded. */
async function usesProxy(url: URL, parts: Pick<RequesterConfig, "ca" | "lookup" | "proxy">): Promise<boolean> {
  const transport = resolveTransportOptions({ ...parts, allowedAddresses: "public" });
  try {
    await new HttpEndpoint(url, transport, undefined).close();
    return false;
  } catch (error) {
    if (isRemoteConnectorError(error, "invalid_options") && error.details.option === "allowedAddresses") return true;
    throw error;
  }
}

function addressesOf(host: string, lookup: LookupFunction): Promise<readonly string[]> {
  if (isIP(host) !== 0) return Promise.resolve([host]);
  return new Promise((resolve) => {
    lookup(host, { all: true }, (error, found) => {
      if (error !== null && error !== undefined) resolve([]);
      else resolve(Array.isArray(found) ? found.map(({ address }) => address) : [found]);
    });
  });
}

/** Asks the guard that connections have. */
function areAllowed(addresses: readonly string[], allowed: AllowedAddresses): Promise<boolean> {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  const guard = guardLookup(allowed, (_host, _options, callback) => callback(null, known));
  return new Promise((resolve) => guard("", { all: true }, (error) => resolve(error === null)));
}
