import { isRemoteConnectorError } from "../../errors.js";
import { RpcCode } from "../../protocol/index.js";

/** The account has to authorize a connector before it answers. */
export interface AuthorizationDemand {
  /** It was authorized before, and has to be again. */
  readonly reauthorize: boolean;
}

const PRECONDITION_REQUIRED = 428;

/**
 * Whether a failure of any request to a connector's gateway, list and call alike, says that the account has to authorize the
 * connector: `-33001`, `-33002`, or HTTP 428 with whatever body. `undefined` for every other value. Pure.
 */
export function readAuthorizationDemand(error: unknown): AuthorizationDemand | undefined {
  if (isRemoteConnectorError(error, "authorization_required")) return { reauthorize: error.details.reauthorize };
  if (isRemoteConnectorError(error, "peer_error")) {
    const { rpcCode, httpStatus } = error.details;
    if (rpcCode === RpcCode.reauthRequired) return { reauthorize: true };
    const isDemanded = rpcCode === RpcCode.authorizationRequired || httpStatus === PRECONDITION_REQUIRED;
    return isDemanded ? { reauthorize: false } : undefined;
  }
  const isBare = isRemoteConnectorError(error, "unexpected_answer") && error.details.status === PRECONDITION_REQUIRED;
  return isBare ? { reauthorize: false } : undefined;
}
