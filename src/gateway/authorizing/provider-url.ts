import { RemoteConnectorError } from "../../errors.js";
import { isLoopback, parseEndpoint } from "../../transport/index.js";

/**
 * An address that an authorization server has, by its options or its metadata: https, or plain http where the server itself is
 * on this machine. Throws `invalid_url`: no server elsewhere makes the gateway talk to services of its own machine.
 */
export function parseProviderUrl(value: string, issuer: string): URL {
  const url = parseEndpoint(value, { allowInsecureHttp: false });
  if (!isLoopback(url.hostname) || isLoopback(new URL(issuer).hostname)) return url;
  const reason = "on this machine, and the issuer is not";
  throw new RemoteConnectorError("invalid_url", {
    message: `The URL ${url.origin} is refused: ${reason}.`,
    details: { url: url.origin, reason },
  });
}
