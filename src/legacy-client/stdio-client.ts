import { Settlement } from "../transport/index.js";
import type { ProcessExit } from "../transport/process/index.js";
import { LegacyClient } from "./client.js";
import { startServer } from "./handshake.js";
import type { StdioConnection } from "./stdio-connection.js";
import { type LegacyStdioConfig, type LegacyStdioOptions, resolveLegacyStdioOptions } from "./stdio-options.js";

/**
 * A {@link LegacyClient} of a server that is a child process. In addition its calls end with `process_exited` (`unknown`);
 * `limit_exceeded` (`not_sent`) says that too many messages wait for a process that doesn't read.
 *
 * Requests of the server are answered: `ping`, what `handlers` are there for, and "method not found" for the rest. `close()` asks the process to end, and
 * ends it after `closeGraceMs`; it resolves when nothing of it is left.
 *
 * Source: 2025-11-25, Lifecycle; Transports, stdio.
 */
export class LegacyStdioClient extends LegacyClient {
  readonly #connection: StdioConnection;

  /**
   * Starts the server and initializes it.
   *
   * Rejects with `invalid_options` or `spawn_failed` (both `not_sent`), `process_exited`, `timeout`, `unsupported_version`,
   * `peer_error`, `invalid_answer`, or with the reason of `options.signal`. The process is ended after a failure; the end
   * of its stderr is in the error or in its cause.
   */
  static connect(options: LegacyStdioOptions): Promise<LegacyStdioClient> {
    const settlement = new Settlement<LegacyStdioClient>();
    try {
      const config = resolveLegacyStdioOptions(options);
      void startServer(config).then((outcome) =>
        outcome.kind === "started"
          ? settlement.resolve(new LegacyStdioClient(outcome.connection, config))
          : settlement.abort(outcome.reason, outcome.delivery),
      );
    } catch (error) {
      settlement.abort(error, "not_sent");
    }
    return settlement.promise;
  }

  private constructor(connection: StdioConnection, config: LegacyStdioConfig) {
    super(connection, config);
    this.#connection = connection;
  }

  /** The server's process id. */
  get pid(): number | undefined {
    return this.#connection.pid;
  }

  /** How the process ended, whoever ended it. Never rejects. */
  get exited(): Promise<ProcessExit> {
    return this.#connection.exited;
  }
}
