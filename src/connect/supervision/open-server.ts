import type { RemoteConnectorError } from "../../errors.js";
import type { McpClient } from "../mcp-client.js";

/** What a start is given. */
export interface ServerOpening {
  /** The server is no longer wanted: the start is to end. */
  readonly signal: AbortSignal;
  /** To be called whenever the server says that its tools changed, also before it is open. Does nothing by itself. */
  readonly onToolsChanged: () => void;
}

/** A server that was started and initialized. */
export interface OpenedServer {
  readonly client: McpClient;
  /** What ended the process, whoever ended it. Stays open where nobody can know; a failed call tells it then. */
  readonly exited: Promise<RemoteConnectorError>;
}

/**
 * Starts a server's process and initializes it; resolves when it can be asked for its tools, however long that takes.
 *
 * Rejects when the process ends or can't be started, and soon after the signal fired: in each case when nothing of it is left.
 * What was opened is ended by its client's `close()`.
 */
export type OpenServer = (opening: ServerOpening) => Promise<OpenedServer>;
