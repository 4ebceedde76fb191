import { RemoteConnectorError } from "../errors.js";
import { parseEndpoint, shownUrl } from "../transport/index.js";

/**
 * The URL of `path`, which begins with a slash, below a control plane's base. Throws `invalid_url` for a base that is neither
 * https nor http on loopback, or that holds userinfo, a query or a fragment.
 */
export function controlUrl(controlBase: string | URL, path: string): URL {
  const url = parseEndpoint(controlBase, { allowInsecureHttp: false });
  // An empty query leaves no trace but its question mark.
  if (url.href.includes("?")) {
    throw new RemoteConnectorError("invalid_url", {
      message: `The URL ${shownUrl(url)} is refused: it is a base, and holds a query.`,
      details: { url: shownUrl(url), reason: "holds a query" },
    });
  }
  url.pathname = url.pathname.replace(/\/+$/u, "") + path;
  return url;
}
