import type { AccountAuthorizations } from "./authorization-state.js";
import type { GatewayConnector } from "./options.js";

/**
 * The body of an authorization snapshot: every connector that needs authorization, in the order of its key. Numbers are
 * written as strings, since they are 64 bits wide; a connector that was never granted has a null connection.
 */
export function encodeSnapshot(account: AccountAuthorizations, connectors: Iterable<GatewayConnector>): string {
  const entries = [...connectors]
    .filter(({ authorization }) => authorization === "account")
    .sort((a, b) => (a.connectorId < b.connectorId ? -1 : 1))
    .map(({ connectorId, connectorVersion }) => {
      const connection = account.connections.get(connectorId);
      return {
        connectorId,
        connectorVersion,
        state: connection?.state ?? "disconnected",
        connectionId: connection?.connectionId ?? null,
        connectionVersion: String(connection?.connectionVersion ?? 0n),
      };
    });
  return JSON.stringify({ revision: String(account.revision), epoch: account.epoch, connectors: entries });
}
