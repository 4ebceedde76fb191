import { ModernClient } from "./modern-client.js";
import { type ModernStdioClientOptions, resolveModernStdioOptions, StdioChannel } from "./stdio/index.js";

/**
 * A client for one MCP server that is a child process and speaks revision 2026-07-28.
 *
 * The first request starts the process, and so does the first after its end; each waits for that within its
 * `connectTimeoutMs`. With the process everything ends that it was given (`process_exited`; `unknown` once written); a read
 * is made again, and `keepListening` opens again. Each process is probed first: one of an older revision is ended, and
 * requests reject with `unsupported_version` (`not_sent`). `x-mcp-header` means nothing here. In addition to what every
 * client rejects with: `spawn_failed` (`not_sent`), `process_exited`, `connection_broken`.
 *
 * Source: 2026-07-28, stdio.
 */
export class ModernStdioClient extends ModernClient {
  /** Throws `invalid_options`. Starts nothing. */
  constructor(options: ModernStdioClientOptions) {
    const { client, channel } = resolveModernStdioOptions(options);
    super(client, (ports) => new StdioChannel(channel, client, ports));
  }
}
