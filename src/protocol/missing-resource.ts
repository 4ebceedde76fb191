import { isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import { isJsonObject, RpcCode } from "./json-rpc.js";
import { plainText } from "./plain-text.js";

/**
 * Tells that a server has no resource of `uri` from its other refusals to read it. `-32602` says so only when its data names
 * the URI: the code means any parameter that is wrong. Pure.
 *
 * Source: 2026-07-28, Resources, Error Handling; 2025-11-25 used `-32002`.
 */
export function recogniseMissing(error: RemoteConnectorError, uri: string): RemoteConnectorError {
  if (!isRemoteConnectorError(error, "peer_error")) return error;
  const { rpcCode, rpcData, evidence } = error.details;
  const isNamed = rpcCode === RpcCode.invalidParams && isJsonObject(rpcData) && rpcData["uri"] === uri;
  if (rpcCode !== RpcCode.resourceNotFound && !isNamed) return error;
  return new RemoteConnectorError("resource_not_found", {
    message: "The server has no resource of this URI.",
    delivery: "answered",
    details: { uri: shownUri(uri), rpcCode, rpcData, evidence },
  });
}

/** A URI of any scheme as errors show it: without userinfo and what follows a question mark. */
export function shownUri(uri: string): string {
  return plainText(uri.replace(/\/\/[^/?#]*@/, "//").replace(/\?.*$/s, "?…"), 1_024);
}
