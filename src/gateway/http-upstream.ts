import { ModernStreamableHTTPClient } from "../modern-client/index.js";
import type { Implementation } from "../protocol/index.js";
import type { Clock, Deadlines } from "../transport/index.js";
import type { HttpUpstream } from "./options.js";
import { parsePage, type Upstream } from "./upstream.js";

export interface OpenUpstreamOptions {
  readonly clientInfo: Implementation;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
}

/** A connector's server of revision 2026-07-28. Nothing is sent before the first request. */
export function openHttpUpstream(upstream: HttpUpstream, options: OpenUpstreamOptions): Upstream {
  const { clientInfo, clock, deadlines } = options;
  const headers = upstream.headers ?? {};
  const client = new ModernStreamableHTTPClient({
    endpoint: upstream.url,
    clientInfo,
    headers,
    clock,
    // Whoever asked decides whether to ask again.
    maxReadRetries: 0,
    ...deadlines,
  });
  return {
    era: "modern",
    gone: undefined,
    async listTools(cursor, { signal, meta }) {
      const params = cursor === undefined ? {} : { cursor };
      const { raw } = await client.listTools(params, { signal, meta, detail: true });
      return parsePage(raw);
    },
    async callTool({ name, arguments: args, ...call }) {
      const { signal, meta, logLevel, onProgress, onNotification } = call;
      const params = args === undefined ? { name } : { name, arguments: args };
      const told = { signal, meta, logLevel, onProgress, onNotification, detail: true, outputCheck: "off" } as const;
      return (await client.callTool(params, told)).raw;
    },
    close: () => client.close(),
  };
}
