import type { RemoteConnectorError } from "../../errors.js";
import { systemClock } from "../../transport/index.js";
import { connect } from "../connect.js";
import { type ConnectStdioOptions, resolveConnectOptions } from "../connect-options.js";
import { createEraMemory } from "../era-memory.js";
import type { McpClient } from "../mcp-client.js";
import type { OpenedServer, OpenServer, ServerOpening } from "./open-server.js";
import { startOptions } from "./start-options.js";
import { watchServer } from "./watch-server.js";

type Options = Omit<ConnectStdioOptions, "signal">;

/** No deadline but the caller's signal. */
const UNHURRIED = { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: Infinity };

/**
 * How a program is started again and again: each opening starts it as {@link connect} does, and waits as long as its signal lets it.
 * For whoever sees to the restarts. Throws `invalid_options`.
 *
 * A process is of one era for as long as it lives: the era is looked for at the first start, and again when a start shows
 * that it was another. The client starts no process by itself.
 */
export function connectOpener(options: Options): OpenServer {
  // What no start could use is refused now. Nothing is started.
  void resolveConnectOptions(options).openModern().close();
  const eraMemory = options.eraMemory ?? createEraMemory();
  return async (opening) => {
    const leaving: Promise<void>[] = [];
    let onProcessEnd: (error: RemoteConnectorError) => void = ignore;
    const ended = new Promise<RemoteConnectorError>((resolve) => (onProcessEnd = resolve));
    const told = (error: RemoteConnectorError): void => {
      onProcessEnd(error);
      options.onProcessEnd?.(error);
    };
    try {
      const client = await connect(startOptions({ ...options, eraMemory, onProcessEnd: told }, opening, leaving));
      return await settle(client, ended, options, opening);
    } catch (error) {
      await Promise.all(leaving);
      throw error;
    }
  };
}

/** Sees to it that there is a process: one of a remembered era is not started before its first request. */
async function settle(
  client: McpClient,
  ended: Promise<RemoteConnectorError>,
  options: Options,
  opening: ServerOpening,
): Promise<OpenedServer> {
  const { signal, onToolsChanged } = opening;
  try {
    await client.discover({ signal, ...UNHURRIED });
    const watched = watchServer(client, { signal, onToolsChanged, clock: options.clock ?? systemClock });
    return { client, exited: Promise.race([ended, watched]) };
  } catch (error) {
    await client.close();
    throw error;
  }
}

function ignore(): void {
  // Replaced at once by the promise that it resolves.
}
