import { RemoteConnectorError } from "../../errors.js";
import { type EndpointPolicy, parseEndpoint, shownUrl } from "../../transport/index.js";

/**
 * Where messages are posted, by the `endpoint` event of a stream that came from `streamUrl`: absolute, root-relative or
 * relative to it. Pure.
 *
 * Throws `invalid_url` (`answered`) for what is no URL, of another origin than the stream, or against the endpoint policy:
 * what is posted there was meant for the stream's server. Source: 2024-11-05, Transports, HTTP with SSE.
 */
export function resolveMessageUrl(data: string, streamUrl: URL, policy: EndpointPolicy): URL {
  if (!URL.canParse(data, streamUrl.href)) return refuse("(not a URL)", "not a URL");
  const url = new URL(data, streamUrl);
  if (url.origin !== streamUrl.origin) return refuse(shownUrl(url), "of another origin than the stream that named it");
  return parseEndpoint(url, policy);
}

function refuse(url: string, reason: string): never {
  throw new RemoteConnectorError("invalid_url", {
    message: `The server's endpoint ${url} is refused: ${reason}.`,
    delivery: "answered",
    details: { url, reason },
  });
}
