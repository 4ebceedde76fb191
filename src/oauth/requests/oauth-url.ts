import { RemoteConnectorError } from "../../errors.js";
import { isLoopback, parseEndpoint, shownUrl } from "../../transport/index.js";

export interface OAuthUrlPolicy {
  /** Whether this machine's own loopback may be meant, over http too: it may when the MCP endpoint is there itself. */
  readonly loopback: boolean;
}

/**
 * A URL that a server published, or that is made of one: https, without userinfo and fragment; on loopback, and http there, only by
 * `loopback`. A name that stands for loopback without saying so is left to the address guard.
 *
 * Throws `invalid_url`, which shows it without userinfo and query values.
 * Source: 2026-07-28, Security Considerations, Communication Security.
 */
export function parseOAuthUrl(text: string, { loopback }: OAuthUrlPolicy): URL {
  const url = parseEndpoint(text, { allowInsecureHttp: false });
  if (loopback || !isLoopback(url.hostname)) return url;
  const shown = shownUrl(url);
  const reason = "on this machine, where the MCP endpoint is not";
  throw new RemoteConnectorError("invalid_url", {
    message: `The URL ${shown} is refused: ${reason}.`,
    details: { url: shown, reason },
  });
}
