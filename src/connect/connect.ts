import { deliveryOf, isRemoteConnectorError } from "../errors.js";
import { Settlement } from "../transport/index.js";
import { type ConnectConfig, type ConnectOptions, resolveConnectOptions } from "./connect-options.js";
import { ConnectedClient } from "./connected-client.js";
import { EraKeeper } from "./era-keeper.js";
import { findEra } from "./find-era.js";
import type { McpClient } from "./mcp-client.js";
import { NotificationFan } from "./notification-fan.js";
import { Search } from "./search.js";

/**
 * Reaches a server of any era: finds out which it is of, and gives one client for both.
 *
 * The era is asked for with `server/discover`, unless it is remembered, or `revisions` leave no choice. Rejects with
 * `invalid_options`, `invalid_url`, `invalid_header` and `unsupported_by_exchange` (all `not_sent`); with the first failure of the
 * search, the next one as its `cause`: a network failure, a refusal, `unsupported_version` (`answered`) with both lists;
 * with `timeout` of `lifecycleTimeoutMs`; or with the reason of `options.signal`. After a failure nothing is left open.
 *
 * Source: 2026-07-28, Versioning, Backward Compatibility.
 */
export function connect(options: ConnectOptions): Promise<McpClient> {
  const settlement = new Settlement<McpClient>();
  try {
    const config = resolveConnectOptions(options);
    if (config.signal?.aborted === true) settlement.abort(config.signal.reason, "not_sent");
    else void open(config, settlement);
  } catch (error) {
    settlement.abort(error, "not_sent");
  }
  return settlement.promise;
}

async function open(config: ConnectConfig, settlement: Settlement<McpClient>): Promise<void> {
  const fan = new NotificationFan(config.onNotification, config.onDiagnostic);
  const search = new Search(config, fan, config.signal);
  try {
    const found = await findEra(config, search);
    settlement.resolve(new ConnectedClient(new EraKeeper(config, found, fan)));
  } catch (error) {
    const delivery = deliveryOf(error) ?? (isRemoteConnectorError(error) ? error.delivery : "unknown");
    settlement.abort(error, delivery);
  } finally {
    search.end();
  }
}
