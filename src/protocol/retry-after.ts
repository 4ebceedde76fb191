import { type AnyRemoteConnectorError, isRemoteConnectorError } from "../errors.js";
import { isJsonObject } from "./json-rpc.js";

const SECONDS = /^\d{1,10}$/;
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long a `Retry-After` asks to wait, in milliseconds from `nowMs` (Unix time); `undefined` when it says nothing usable.
 * A date that has passed is 0. Pure. Source: RFC 9110, section 10.2.3.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (SECONDS.test(text)) return Number(text) * 1_000;
  const at = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/**
 * How long a peer asked to be left alone, in milliseconds from `nowMs` (Unix time): the `retryAfterMs` of its error's data,
 * else `Retry-After`. `undefined` when it didn't, or in no form that is understood. Pure.
 */
export function readRetryAfterMs(error: AnyRemoteConnectorError, nowMs: number): number | undefined {
  if (isRemoteConnectorError(error, "peer_error")) {
    const { rpcData, retryAfter } = error.details;
    return readDataMs(rpcData) ?? parseRetryAfter(retryAfter, nowMs);
  }
  if (isRemoteConnectorError(error, "unexpected_answer")) return parseRetryAfter(error.details.retryAfter, nowMs);
  return undefined;
}

function readDataMs(data: unknown): number | undefined {
  const value = isJsonObject(data) ? data["retryAfterMs"] : undefined;
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
