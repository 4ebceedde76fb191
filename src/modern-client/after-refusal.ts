import { isRemoteConnectorError, RemoteConnectorError } from "../errors.js";
import { isJsonObject, isModernRevision, MODERN_REVISIONS, RpcCode } from "../protocol/index.js";

/** What a call does when the server refused its request. */
export type AfterRefusal =
  | { readonly kind: "fail" }
  | { readonly kind: "fail_with"; readonly error: RemoteConnectorError }
  /** Make the headers anew, from a fresh list, and try once more if they differ. */
  | { readonly kind: "correct_headers" }
  /** Try once more as it is. */
  | { readonly kind: "repeat" };

export interface RefusedCall {
  /** Whether there are headers to correct, and that was not tried yet. */
  readonly canCorrect: boolean;
  /** Whether the version was not tried twice yet. */
  readonly canRepeat: boolean;
}

/**
 * Decides what follows a refusal. A request that was refused for its headers or its version was not executed. Pure.
 *
 * A server that refuses the version and yet speaks one of ours is asked once more, also for the very version that it refused:
 * one behind a balancer can be newer than another. Source: 2026-07-28, Versioning; Streamable HTTP, Server Validation.
 */
export function afterRefusal(error: RemoteConnectorError, { canCorrect, canRepeat }: RefusedCall): AfterRefusal {
  if (!isRemoteConnectorError(error, "peer_error")) return { kind: "fail" };
  const { rpcCode, rpcData } = error.details;
  if (rpcCode === RpcCode.headerMismatch) return { kind: canCorrect ? "correct_headers" : "fail" };
  if (rpcCode !== RpcCode.unsupportedProtocolVersion || !canRepeat) return { kind: "fail" };
  const supported = isJsonObject(rpcData) ? rpcData["supported"] : undefined;
  if (!Array.isArray(supported) || !supported.every((version) => typeof version === "string")) return { kind: "fail" };
  if (supported.some(isModernRevision)) return { kind: "repeat" };
  const unsupported = new RemoteConnectorError("unsupported_version", {
    message: "The server speaks no modern revision that this client speaks.",
    delivery: "answered",
    details: { supported, ours: MODERN_REVISIONS },
  });
  return { kind: "fail_with", error: unsupported };
}
