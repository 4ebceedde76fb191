import { type RequestId, RpcCode } from "../protocol/index.js";
import { type Refusal, refuse } from "../serving/index.js";
import type { Connection } from "./authorization-state.js";
import type { GatewayConnector } from "./options.js";

/** Refuses a call whose account has no usable connection: 428 with `-33001` or `-33002`. Pure. */
export function checkAuthorization(
  connector: GatewayConnector,
  connection: Connection | undefined,
  id: RequestId,
): Refusal | undefined {
  if (connector.authorization === "none" || connection?.state === "connected") return undefined;
  const data = { connectorId: connector.connectorId };
  return connection?.state === "reauth_required"
    ? refuse(428, id, RpcCode.reauthRequired, "The account has to authorize the connector again", data)
    : refuse(428, id, RpcCode.authorizationRequired, "The account has not authorized the connector", data);
}
