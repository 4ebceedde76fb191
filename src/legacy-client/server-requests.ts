import { type JsonObject, type RequestId, RpcCode } from "../protocol/index.js";

/** A request that the server sent to us. */
export interface ServerRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
}

/**
 * The response to a request of the server: an empty result for `ping`, "method not found" for everything else, since this
 * client declares no capability. Handlers for more are asked here. Pure.
 *
 * Source: 2025-11-25, Ping.
 */
export function answerServerRequest(request: ServerRequest): JsonObject {
  const { id, method } = request;
  if (method === "ping") return { jsonrpc: "2.0", id, result: {} };
  const error = { code: RpcCode.methodNotFound, message: "Method not found" };
  return { jsonrpc: "2.0", id, error };
}
