import { type Delivery, type ErrorCode, type ErrorDetails, isRemoteConnectorError } from "../errors.js";

/** What an exchange is about. */
export interface ExchangeSubject {
  /** The JSON-RPC method. */
  readonly method: string;
  /** What the request names: a tool, a prompt, a resource. */
  readonly name: string | undefined;
  /** `undefined` of a notification. */
  readonly id: number | undefined;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
  readonly protocolVersion: string | undefined;
}

/** What an exchange came to, without a word of what was said. */
export interface ExchangeResult {
  readonly delivery: Delivery;
  /**
   * Of a failure: the JSON-RPC code as text, `tool_error` for a result with `isError`, `aborted` for the caller's own abort,
   * else the code of our error.
   */
  readonly errorType?: string | undefined;
  readonly rpcCode?: number | undefined;
  readonly httpStatus?: number | undefined;
}

const ANSWERED: ExchangeResult = { delivery: "answered" };
const TOOL_FAILED: ExchangeResult = { delivery: "answered", errorType: "tool_error" };

/** Of an answer that is a result. */
export function resultOfAnswer(result: { readonly isError?: unknown }): ExchangeResult {
  return result.isError === true ? TOOL_FAILED : ANSWERED;
}

/** Of a failure. What is no error of ours was thrown where nothing should be. */
export function resultOfError(error: unknown): ExchangeResult {
  if (!isRemoteConnectorError(error)) return { delivery: "unknown", errorType: "internal_error" };
  const { code, delivery, details } = error;
  const rpcCode = "rpcCode" in details ? details.rpcCode : undefined;
  const errorType = rpcCode === undefined ? code : String(rpcCode);
  return { delivery, errorType, rpcCode, httpStatus: statusIn(details) };
}

export function resultOfAbort(delivery: Delivery): ExchangeResult {
  return { delivery, errorType: "aborted" };
}

function statusIn(details: ErrorDetails[ErrorCode]): number | undefined {
  if ("httpStatus" in details) return details.httpStatus;
  return "status" in details ? details.status : undefined;
}

/** What a request carries in `_meta` of the trace that it belongs to. Source: 2026-07-28, Overview, `_meta`. */
export interface TraceContext {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

/** The keys of {@link TraceContext}. */
export const TRACE_KEYS = ["traceparent", "tracestate", "baggage"] as const satisfies readonly (keyof TraceContext)[];
