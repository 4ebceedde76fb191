import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import type { buildConnector } from "undici";

/** Which addresses may be connected to. `public` is what is routed on the internet. */
export type AllowedAddresses = "any" | "public" | "public_or_loopback";

/** A connection that was not made, because of the address that a name or a URL stands for. */
class AddressRefusedError extends Error {
  readonly code = "ERR_ADDRESS_REFUSED";

  constructor() {
    super("The host stands for an address that may not be connected to.");
  }
}

/**
 * A lookup that fails with `ERR_ADDRESS_REFUSED` when any address of a name is not allowed. Who connects uses exactly the
 * addresses that were looked at, so a second answer of the name server changes nothing.
 *
 * It is not asked for hosts that are addresses themselves: {@link guardConnector} covers those.
 */
export function guardLookup(allowed: AllowedAddresses, lookup: LookupFunction = systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      if (error !== null && error !== undefined) {
        callback(error, found, family);
        return;
      }
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      judge(addresses, allowed, (refusal) => {
        if (refusal === undefined) callback(null, found, family);
        else callback(refusal, Array.isArray(found) ? [] : "", family);
      });
    });
  };
}

/** A connector that refuses hosts that are addresses and not allowed. Names are left to its {@link guardLookup}. */
export function guardConnector(allowed: AllowedAddresses, connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    const host = options.hostname.replace(/^\[(.*)\]$/, "$1");
    if (isIP(host) === 0) {
      connect(options, callback);
      return;
    }
    judge([host], allowed, (refusal) => {
      if (refusal === undefined) connect(options, callback);
      else callback(refusal, null);
    });
  };
}

/** What knows the ranges is loaded when the first address is looked at. What fails there refuses. */
function judge(addresses: readonly string[], allowed: AllowedAddresses, then: (refusal?: Error) => void): void {
  if (allowed === "any") {
    then();
    return;
  }
  import("./address-range.js")
    .then(({ classifyAddress }) => {
      const isAllowed =
        addresses.length > 0 &&
        addresses.every((address) => {
          const range = classifyAddress(address);
          return range === "public" || (range === "loopback" && allowed === "public_or_loopback");
        });
      return isAllowed ? undefined : new AddressRefusedError();
    })
    .catch(() => new AddressRefusedError())
    // Outside the promise: what is called throws on its own account.
    .then(
      (refusal) => setImmediate(then, refusal),
      () => undefined,
    );
}
