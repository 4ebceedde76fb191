/** A JSON object of unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The id of a request. `0` and `""` are ordinary ids: never test one by truthiness. */
export type RequestId = string | number;

/** The error of a response: an integer code, and `""` as message when the peer gave none. */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** JSON-RPC and MCP error codes that this package sends or acts on. Source: 2026-07-28, Overview, Error Codes. */
export const RpcCode = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** 2025-11-25 and earlier. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingRequiredClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
  /** The connector contract's own codes. */
  authorizationRequired: -33001,
  reauthRequired: -33002,
  connectorUnavailable: -33003,
  upstreamTimeout: -33004,
  upstreamRateLimited: -33005,
  upstreamProtocolError: -33006,
} as const;

/** One JSON-RPC message, told apart by its shape. */
export type Message =
  | { readonly kind: "request"; readonly id: RequestId; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "result"; readonly id: RequestId; readonly result: JsonObject }
  | { readonly kind: "error"; readonly id: RequestId | undefined; readonly error: JsonRpcError }
  /**
   * `id` is the call that a broken response answers, when it carries a usable one. A broken request or notification has
   * none here: its id is of its sender's space, and may equal one of ours by chance.
   */
  | { readonly kind: "invalid"; readonly id: RequestId | undefined; readonly reason: string };

/** Whether a parsed JSON value is an object: neither `null` nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value can be a request's id: a string, or a number without a fraction. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isInteger(value));
}

/**
 * Tells what kind of JSON-RPC message a parsed JSON value is. Total: throws nothing.
 *
 * `null` counts as absent for what can't be `null` when it is there: `error` and `method`, and `result` beside an error. A
 * response with neither or both, with a result that is no object, or with a method, is `invalid`.
 * Source: 2026-07-28, Overview, Messages.
 */
export function classifyMessage(value: unknown): Message {
  if (!isJsonObject(value)) {
    return { kind: "invalid", id: undefined, reason: Array.isArray(value) ? "a batch" : "not an object" };
  }
  const rawId = value["id"];
  const id = isRequestId(rawId) ? rawId : undefined;
  const method = value["method"] ?? undefined;
  const answers = (value["result"] ?? value["error"] ?? undefined) !== undefined;
  if (value["jsonrpc"] !== "2.0") {
    return { kind: "invalid", id: method === undefined || answers ? id : undefined, reason: 'without jsonrpc "2.0"' };
  }
  if (method !== undefined) {
    if (answers) return { kind: "invalid", id, reason: "both a method and a result or error" };
    if (typeof method !== "string") return { kind: "invalid", id: undefined, reason: "method is not a string" };
    const params = value["params"];
    if (rawId === undefined) return { kind: "notification", method, params };
    if (id === undefined) return { kind: "invalid", id: undefined, reason: "a request with an unusable id" };
    return { kind: "request", id, method, params };
  }
  return classifyResponse(value, rawId, id);
}

function classifyResponse(value: JsonObject, rawId: unknown, id: RequestId | undefined): Message {
  const error = value["error"] ?? undefined;
  const result = value["result"];
  if (error !== undefined) {
    if (result !== undefined && result !== null) return { kind: "invalid", id, reason: "both a result and an error" };
    if (!isJsonObject(error) || typeof error["code"] !== "number" || !Number.isInteger(error["code"])) {
      return { kind: "invalid", id, reason: "an error without an integer code" };
    }
    if (rawId !== undefined && rawId !== null && id === undefined) {
      return { kind: "invalid", id: undefined, reason: "a response with an unusable id" };
    }
    const message = typeof error["message"] === "string" ? error["message"] : "";
    const data = error["data"];
    return { kind: "error", id, error: { code: error["code"], message, ...(data === undefined ? {} : { data }) } };
  }
  if (result === undefined) return { kind: "invalid", id, reason: "neither a result nor an error" };
  if (!isJsonObject(result)) return { kind: "invalid", id, reason: "a result that is no object" };
  if (id === undefined) return { kind: "invalid", id: undefined, reason: "a result without a usable id" };
  return { kind: "result", id, result };
}
