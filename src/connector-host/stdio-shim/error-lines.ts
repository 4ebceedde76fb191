import type { Delivery } from "../../errors.js";
import { isJsonObject, parseJson, type JsonRpcError, type RequestId, RpcCode } from "../../protocol/index.js";

/** Why a request has no answer of the host. */
export interface HostFailure {
  readonly message: string;
  /** How far the request got. */
  readonly delivery: Delivery;
  /** A code of this package's errors, for programs. */
  readonly code: string;
  /** What a program can act on beside these. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
}

/** The error of a request that the host did not answer, in the form in which the host tells of failures. Pure. */
export function failureError(failure: HostFailure, deliveryKey: string): JsonRpcError {
  const { message, delivery, code, facts } = failure;
  return { code: RpcCode.internalError, message, data: { [deliveryKey]: { delivery, code, ...facts } } };
}

/** The line that tells the requests of one line of the agent of an error: a batch is answered by a batch. Pure. */
export function errorLines(ids: readonly RequestId[], isBatch: boolean, error: JsonRpcError): string {
  const responses = ids.map((id) => ({ jsonrpc: "2.0", id, error }));
  return JSON.stringify(isBatch ? responses : responses[0]);
}

/** Revisions whose error responses have an id, which is `null` where none could be read. */
const WITH_ID: ReadonlySet<string> = new Set(["2025-06-18", "2025-03-26", "2024-11-05"]);

/**
 * The line about a line that could not be read as a request. `revision` is that of the session; without one it is modern.
 * Source: JSON-RPC 2.0, Response object; 2025-11-25, Overview, Error Responses.
 */
export function unreadableLine(revision: string | undefined, error: JsonRpcError, id?: RequestId): string {
  const shown = id ?? (revision !== undefined && WITH_ID.has(revision) ? null : undefined);
  return JSON.stringify({ jsonrpc: "2.0", id: shown, error });
}

/**
 * The error in a body that the host refused a request with, and whether it names the request. `undefined` for a body without
 * one. Pure.
 */
export function refusalIn(body: Uint8Array): { readonly error: JsonRpcError; readonly hasId: boolean } | undefined {
  const value = parseJson(Buffer.from(body).toString("utf8"));
  const error = isJsonObject(value) ? value["error"] : undefined;
  if (!isJsonObject(value) || !isJsonObject(error)) return undefined;
  const { code, message, data } = error;
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  return { error: { code, message, data }, hasId: (value["id"] ?? undefined) !== undefined };
}
