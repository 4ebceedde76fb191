import { ModernStreamableHTTPClient } from "../modern-client/index.js";
import type { Implementation } from "../protocol/index.js";
import type { Clock, Deadlines } from "../transport/index.js";
import type { Credential } from "./authorizing/index.js";
import type { HttpUpstream } from "./options.js";
import { parsePage, type Upstream } from "./upstream.js";

export interface OpenUpstreamOptions {
  readonly clientInfo: Implementation;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
  /** What the account's requests are authorized with. It is copied. */
  readonly credential: Credential | undefined;
}

/** A connector's server of revision 2026-07-28. Nothing is sent before the first request. */
export function openHttpUpstream(upstream: HttpUpstream, options: OpenUpstreamOptions): Upstream {
  const { clientInfo, clock, credential, deadlines } = options;
  const { credentialHeader = "Authorization", credentialPrefix = "Bearer " } = upstream;
  const secret = credential?.secret.toString("utf8");
  const own = secret === undefined ? {} : { [credentialHeader]: `${credentialPrefix}${secret}` };
  const headers = { ...upstream.headers, ...own };
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
    credential,
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
    async request(method, params, told) {
      return (await client.request(method, params, { ...told, detail: true })).raw;
    },
    async listen(filter, { signal, meta, onAcknowledged, onNotification }) {
      const subscription = client.listen(filter, { signal, meta });
      try {
        onAcknowledged(await subscription.acknowledged);
        for await (const notification of subscription) onNotification(notification);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    close: () => client.close(),
  };
}
