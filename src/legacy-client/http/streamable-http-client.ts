import { deliveryOf } from "../../errors.js";
import { Settlement } from "../../transport/index.js";
import { LegacyClient } from "../client.js";
import { HttpConnection } from "./http-connection.js";
import { type LegacyHttpConfig, type LegacyStreamableHTTPClientOptions, resolveLegacyHttpOptions } from "./options.js";

/**
 * A {@link LegacyClient} of a server over Streamable HTTP in a revision with `initialize`.
 *
 * In addition its calls end with `stream_ended` (`unknown`), `unexpected_answer` and `redirect_refused`, and with
 * `connect_failed`, `authorize_failed` and `invalid_header` (`not_sent`). A server that lost the session gets a new one, and the
 * request that it refused for that once more: it did not run. A stream that breaks is taken up again where it has event ids.
 *
 * Source: 2025-11-25, Lifecycle; Transports, Streamable HTTP.
 */
export class LegacyStreamableHTTPClient extends LegacyClient {
  /**
   * Opens a session.
   *
   * Rejects with `invalid_options`, `invalid_url`, `invalid_header` (`not_sent`), as every request over HTTP, with
   * `unsupported_version` and `peer_error` (`answered`), `invalid_answer`, or with the reason of `options.signal`. After a
   * failure nothing is left; a session that the server had opened is ended.
   */
  static connect(options: LegacyStreamableHTTPClientOptions): Promise<LegacyStreamableHTTPClient> {
    const settlement = new Settlement<LegacyStreamableHTTPClient>();
    try {
      const config = resolveLegacyHttpOptions(options);
      void connect(config, settlement);
    } catch (error) {
      settlement.abort(error, "not_sent");
    }
    return settlement.promise;
  }
}

async function connect(config: LegacyHttpConfig, settlement: Settlement<LegacyStreamableHTTPClient>): Promise<void> {
  let last: Promise<unknown> | undefined;
  let connection: HttpConnection | undefined;
  try {
    connection = new HttpConnection(config);
    await connection.open(config.signal, (sent) => {
      last = sent;
    });
    settlement.resolve(new LegacyStreamableHTTPClient(connection, config));
  } catch (reason) {
    const delivery = last === undefined ? "not_sent" : (deliveryOf(last) ?? "answered");
    settlement.abort(reason, delivery);
    await connection?.close();
  }
}
