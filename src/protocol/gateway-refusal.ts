import { isRemoteConnectorError } from "../errors.js";
import { RpcCode } from "./json-rpc.js";

/** What the connector contract's own codes say, by name. */
export type GatewayRefusal =
  | "authorization_required"
  | "reauth_required"
  | "connector_unavailable"
  | "upstream_timeout"
  | "upstream_rate_limited"
  | "upstream_protocol_error";

const NAMES: ReadonlyMap<number, GatewayRefusal> = new Map([
  [RpcCode.authorizationRequired, "authorization_required"],
  [RpcCode.reauthRequired, "reauth_required"],
  [RpcCode.connectorUnavailable, "connector_unavailable"],
  [RpcCode.upstreamTimeout, "upstream_timeout"],
  [RpcCode.upstreamRateLimited, "upstream_rate_limited"],
  [RpcCode.upstreamProtocolError, "upstream_protocol_error"],
]);

const PRECONDITION_REQUIRED = 428;

/**
 * Which of a connector gateway's refusals an error is; `undefined` for every other value. A bare HTTP 428 asks for
 * authorization, as `-33001` does. Pure.
 */
export function gatewayRefusalOf(error: unknown): GatewayRefusal | undefined {
  if (isRemoteConnectorError(error, "peer_error")) return NAMES.get(error.details.rpcCode);
  const isBare = isRemoteConnectorError(error, "unexpected_answer") && error.details.status === PRECONDITION_REQUIRED;
  return isBare ? "authorization_required" : undefined;
}
