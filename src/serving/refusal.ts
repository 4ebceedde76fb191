import { type JsonRpcError, type RequestId, RpcCode } from "../protocol/index.js";

/** A request that is answered with an error before anything acted on it. */
export interface Refusal {
  readonly kind: "refused";
  /** The HTTP status of the answer. */
  readonly status: number;
  /** Absent when the id could not be read: the error then has no `id` member at all. */
  readonly id: RequestId | undefined;
  readonly error: JsonRpcError;
}

/** Makes a {@link Refusal}; `data` is left out of the error when it is `undefined`. */
export function refuse(
  status: number,
  id: RequestId | undefined,
  code: number,
  message: string,
  data?: unknown,
): Refusal {
  return { kind: "refused", status, id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

/**
 * A header that is missing, malformed or not equal to the body: 400 with `-32020`.
 * Source: 2026-07-28, Streamable HTTP, Server Validation.
 */
export function refuseHeader(id: RequestId | undefined, header: string, reason: string): Refusal {
  return refuse(400, id, RpcCode.headerMismatch, `Header ${header} ${reason}`, { header });
}

/** Parameters that can't be used: 400 with `-32602`. Source: 2026-07-28, Overview, `_meta`. */
export function refuseParams(id: RequestId | undefined, reason: string): Refusal {
  return refuse(400, id, RpcCode.invalidParams, reason);
}

/** A method that the server does not have: 404 with `-32601`. Source: 2026-07-28, Streamable HTTP, Protocol Version Header. */
export function refuseMethod(id: RequestId, method: string): Refusal {
  return refuse(404, id, RpcCode.methodNotFound, `Method not found: ${method.slice(0, 128)}`);
}
