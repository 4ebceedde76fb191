import { deliveryOf, type RemoteConnectorError } from "../../errors.js";
import { Settlement } from "../../transport/index.js";
import { LegacyClient } from "../client.js";
import { SseConnection } from "./sse-connection.js";
import { type LegacySSEClientOptions, type LegacySSEConfig, resolveLegacySSEOptions } from "./sse-options.js";

/**
 * A {@link LegacyClient} of a server of the transport before Streamable HTTP: a stream by GET, whose first event names the
 * place to post to.
 *
 * In addition its calls end with `unexpected_answer` and `redirect_refused` when a POST is refused, with `connect_failed`,
 * `authorize_failed` and `invalid_header` (`not_sent`). The end of the stream is that of the client: open calls end with
 * `stream_ended` or `connection_broken` (`unknown`), later ones with the same (`not_sent`).
 *
 * Source: 2024-11-05, Transports, HTTP with SSE.
 */
export class LegacySSEClient extends LegacyClient {
  readonly #connection: SseConnection;

  /**
   * Opens the stream and initializes the server.
   *
   * Rejects with `invalid_options`, `invalid_url` (`not_sent`; `answered` when the server named a place of another origin),
   * `timeout` when it names none, as every request over HTTP, with `unsupported_version` and `peer_error` (`answered`),
   * `invalid_answer`, or with the reason of `options.signal`. After a failure nothing is left.
   */
  static connect(options: LegacySSEClientOptions): Promise<LegacySSEClient> {
    const settlement = new Settlement<LegacySSEClient>();
    void connect(options, settlement);
    return settlement.promise;
  }

  /** For {@link connect}. */
  constructor(connection: SseConnection, config: LegacySSEConfig) {
    super(connection, config);
    this.#connection = connection;
  }

  /** The error of the stream's end, which is that of the client: of `close()` `cancelled`. Never rejects. */
  get ended(): Promise<RemoteConnectorError> {
    return this.#connection.ended;
  }
}

async function connect(options: LegacySSEClientOptions, settlement: Settlement<LegacySSEClient>): Promise<void> {
  let last: Promise<unknown> | undefined;
  let connection: SseConnection | undefined;
  try {
    const config = resolveLegacySSEOptions(options);
    connection = new SseConnection(config);
    await connection.open((sent) => {
      last = sent;
    });
    settlement.resolve(new LegacySSEClient(connection, config));
  } catch (reason) {
    settlement.abort(reason, last === undefined ? "not_sent" : (deliveryOf(last) ?? "answered"));
    await connection?.close();
  }
}
