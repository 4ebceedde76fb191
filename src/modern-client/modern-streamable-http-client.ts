import { HttpChannel } from "./http-channel.js";
import { type ModernStreamableHTTPClientOptions, resolveModernHttpOptions } from "./http-client-options.js";
import { ModernClient } from "./modern-client.js";

/**
 * A client for one MCP server over Streamable HTTP in revision 2026-07-28: stateless, one POST per request.
 *
 * Source: 2026-07-28, Streamable HTTP.
 */
export class ModernStreamableHTTPClient extends ModernClient {
  /** Throws `invalid_options`, `invalid_url` or `invalid_header`. Opens no connection. */
  constructor(options: ModernStreamableHTTPClientOptions) {
    const { client, channel } = resolveModernHttpOptions(options);
    super(client, (ports) => new HttpChannel(channel, ports));
  }
}
