import type { RemoteConnectorError } from "../../errors.js";
import type { ToolList } from "../../protocol/index.js";
import { closedError, failureOf } from "../../transport/index.js";
import type { McpClient } from "../mcp-client.js";
import { isEndOfProcess } from "./end-of-process.js";
import type { ListOutcome } from "./next-state.js";
import type { OpenServer } from "./open-server.js";

export interface ServerLifeConfig {
  readonly open: OpenServer;
  readonly listTimeoutMs: number;
}

/** Who is told of a life. Nothing is told after its close. */
export interface ServerLifeEvents {
  onOpened(): void;
  /** It ended by itself, or could not be started. May be told more than once. */
  onEnded(error: RemoteConnectorError): void;
  onChanged(): void;
  onTools(list: ToolList): void;
  onListed(outcome: ListOutcome): void;
}

/** One process of the server, from the wish for it until nothing of it is left. */
export class ServerLife {
  readonly #config: ServerLifeConfig;
  readonly #events: ServerLifeEvents;
  readonly #over = new AbortController();
  #opening: Promise<void> | undefined;
  #client: McpClient | undefined;

  constructor(config: ServerLifeConfig, events: ServerLifeEvents) {
    this.#config = config;
    this.#events = events;
  }

  /** There once the server is initialized. */
  get client(): McpClient | undefined {
    return this.#client;
  }

  /** Begins, after what came before it is over. */
  start(before: Promise<unknown>): void {
    this.#opening ??= this.#open(before);
  }

  /** Asks the server for its tools. */
  list(): void {
    if (this.#client !== undefined) void this.#list(this.#client);
  }

  /** Resolves when nothing is left. Never rejects. */
  async close(): Promise<void> {
    this.#over.abort(closedError());
    // What is still being opened is closed when it is.
    if (this.#client === undefined) await this.#opening;
    await this.#client?.close().catch(ignore);
  }

  async #open(before: Promise<unknown>): Promise<void> {
    await before;
    const { signal } = this.#over;
    if (signal.aborted) return;
    const onToolsChanged = (): void => {
      if (!signal.aborted) this.#events.onChanged();
    };
    try {
      const { client, exited } = await this.#config.open({ signal, onToolsChanged });
      this.#client = client;
      exited.then(this.#ended, this.#ended);
      if (!signal.aborted) this.#events.onOpened();
    } catch (error) {
      this.#ended(error);
    }
  }

  async #list(client: McpClient): Promise<void> {
    const { signal } = this.#over;
    try {
      const list = await client.listAllTools({ signal, totalTimeoutMs: this.#config.listTimeoutMs });
      if (signal.aborted) return;
      this.#events.onTools(list);
      this.#events.onListed({ kind: "listed", tools: list.tools.length });
    } catch (caught) {
      if (signal.aborted) return;
      const error = failureOf(caught);
      if (isEndOfProcess(error)) this.#ended(error);
      else this.#events.onListed({ kind: "failed", error });
    }
  }

  readonly #ended = (error: unknown): void => {
    if (!this.#over.signal.aborted) this.#events.onEnded(failureOf(error));
  };
}

function ignore(): void {
  // Whoever closes wants it gone, and it is.
}
