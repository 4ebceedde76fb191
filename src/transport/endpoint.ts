import { RemoteConnectorError } from "../errors.js";
import { isLoopback, shownUrl } from "../protocol/index.js";

export { isLoopback, shownUrl };

export interface EndpointPolicy {
  /** Allows plain http to hosts other than loopback. What is sent there can be read and changed on the way. */
  readonly allowInsecureHttp: boolean;
}

/**
 * Parses an endpoint and applies the policy: https, or http on loopback; no userinfo, no fragment.
 *
 * Throws `invalid_url` (`not_sent`), which shows the URL without userinfo and query values.
 */
export function parseEndpoint(value: string | URL, policy: EndpointPolicy): URL {
  const text = String(value);
  if (!URL.canParse(text)) return refuse("(not a URL)", "not an absolute URL");
  const url = new URL(text);
  const shown = shownUrl(url);
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse(shown, "neither https nor http");
  if (url.username !== "" || url.password !== "") return refuse(shown, "holds userinfo");
  if (url.hash !== "") return refuse(shown, "holds a fragment");
  if (url.protocol === "http:" && !isLoopback(url.hostname) && !policy.allowInsecureHttp) {
    return refuse(shown, "plain http to a host other than loopback; allowInsecureHttp permits it");
  }
  return url;
}

function refuse(url: string, reason: string): never {
  throw new RemoteConnectorError("invalid_url", {
    message: `The URL ${url} is refused: ${reason}.`,
    details: { url, reason },
  });
}
