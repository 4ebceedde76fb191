import { LegacyStdioClient } from "../legacy-client/index.js";
import type { OpenUpstreamOptions } from "./http-upstream.js";
import type { StdioUpstream } from "./options.js";
import { parsePage, type Upstream } from "./upstream.js";

/**
 * Starts a connector's server as a child process and shakes hands with it. Rejects with `spawn_failed`, `process_exited`,
 * `timeout` and whatever else the handshake can end with.
 */
export async function openStdioUpstream(upstream: StdioUpstream, options: OpenUpstreamOptions): Promise<Upstream> {
  const { kind: _kind, ...launch } = upstream;
  const { clientInfo, clock, deadlines } = options;
  const client = await LegacyStdioClient.connect({ ...launch, clientInfo, clock, ...deadlines });
  return {
    era: "legacy",
    gone: client.exited.then(() => undefined),
    async listTools(cursor, { signal, meta }) {
      const params = cursor === undefined ? {} : { cursor };
      const { raw } = await client.listTools(params, { signal, meta, detail: true });
      return parsePage(raw);
    },
    async callTool({ name, arguments: args, signal, meta, onProgress, onNotification }) {
      const params = args === undefined ? { name } : { name, arguments: args };
      return (await client.callTool(params, { signal, meta, onProgress, onNotification, detail: true })).raw;
    },
    close: () => client.close(),
  };
}
