import { LegacyStdioClient } from "../legacy-client/index.js";
import type { OpenUpstreamOptions } from "./http-upstream.js";
import { LegacyListening } from "./legacy-listening.js";
import type { StdioUpstream } from "./options.js";
import { parsePage, type Upstream } from "./upstream.js";

export interface OpenStdioUpstreamOptions extends OpenUpstreamOptions {
  /** Ends the handshake. */
  readonly signal: AbortSignal;
}

/**
 * Starts a connector's server as a child process and shakes hands with it. Rejects with `spawn_failed`, `process_exited`,
 * `timeout`, the reason of `signal`, and whatever else the handshake can end with, when nothing is left of the process.
 */
export async function openStdioUpstream(upstream: StdioUpstream, options: OpenStdioUpstreamOptions): Promise<Upstream> {
  const listening = new LegacyListening();
  const client = await connect(upstream, options, listening);
  return {
    era: "legacy",
    credential: options.credential,
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
    async request(method, params, { signal, meta, onProgress, onNotification }) {
      return (await client.request(method, params, { signal, meta, onProgress, onNotification, detail: true })).raw;
    },
    listen: (filter, told) => listening.listen(client, filter, told),
    close: () => client.close(),
  };
}

async function connect(
  upstream: StdioUpstream,
  options: OpenStdioUpstreamOptions,
  { onNotification }: LegacyListening,
): Promise<LegacyStdioClient> {
  const { kind: _kind, credentialVariable, env: given, ...launch } = upstream;
  const { clientInfo, clock, credential, deadlines, signal } = options;
  const secret = credentialVariable === undefined ? undefined : credential?.secret.toString("utf8");
  const env =
    secret === undefined || credentialVariable === undefined ? given : { ...given, [credentialVariable]: secret };
  let ended: Promise<void> | undefined;
  const onStartAbandoned = (ending: Promise<void>): void => void (ended = ending);
  try {
    return await LegacyStdioClient.connect({
      ...launch,
      env,
      clientInfo,
      clock,
      ...deadlines,
      signal,
      onStartAbandoned,
      onNotification,
    });
  } catch (error) {
    await ended;
    throw error;
  }
}
