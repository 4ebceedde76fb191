import { isIP } from "node:net";
import { RemoteConnectorError } from "../../errors.js";
import { type AllowedAddresses, guardLookup } from "../../transport/index.js";

/** A name of this machine that is written otherwise than `isLoopback` knows it. Source: RFC 6761, Domain Name Reservation: "localhost". */
const LOCAL_NAME = /(?:^|\.)localhost\.?$/;

/** The address that the host of a URL is, as a URL has it: in its only spelling. `undefined`: it is a name. Pure. */
export function addressOf({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(host) === 0 ? undefined : host;
}

/** Whether all of these may be connected to: the guard's own verdict on addresses. */
export function areAllowed(addresses: readonly string[], allowed: AllowedAddresses): Promise<boolean> {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  const guard = guardLookup(allowed, (_host, _options, callback) => callback(null, known));
  return new Promise((resolve) => guard("", { all: true }, (error) => resolve(error === null)));
}

/**
 * Refuses a URL whose host says by itself that it may not be reached: an address, or a name that is loopback's everywhere. A direct
 * connection would find out of most, and one through a proxy would not. Rejects with `connect_failed`, as a direct connection does.
 */
export async function assertHost(url: URL, allowed: AllowedAddresses): Promise<void> {
  const address = addressOf(url);
  const isLocal = LOCAL_NAME.test(url.hostname);
  if (isLocal ? allowed === "public_or_loopback" : address === undefined || (await areAllowed([address], allowed)))
    return;
  const reason = "ERR_ADDRESS_REFUSED";
  throw new RemoteConnectorError("connect_failed", {
    message: `No connection to ${url.origin}: ${reason}.`,
    details: { origin: url.origin, reason, lasting: true },
  });
}
