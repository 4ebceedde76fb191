import { isJsonObject, type JsonObject, MetaKey, RawJson, refuseArgument } from "../protocol/index.js";
import type { CallSpec } from "./connection.js";

/** A request as it goes out. */
export interface RequestLine {
  readonly id: number;
  readonly method: string;
  /** Members that are {@link RawJson} keep their text. */
  readonly params: JsonObject | undefined;
  /** Laid over the `_meta` of the params. */
  readonly meta: JsonObject | undefined;
  /** Asks for progress under this token. */
  readonly progressToken: number | undefined;
}

/** What of a call is sent, under `id`. Throws as {@link encodeRequest}. */
export function encodeCall({ method, params, meta, onProgress }: CallSpec<unknown>, id: number): string {
  return encodeRequest({ id, method, params, meta, progressToken: onProgress === undefined ? undefined : id });
}

/**
 * A request as one line of JSON, without its end. Throws `invalid_argument` (`not_sent`) for what JSON can't hold, and for a
 * progress token of the caller's own, which might be that of another request.
 *
 * Source: 2025-11-25, Transports, stdio; Progress.
 */
export function encodeRequest(request: RequestLine): string {
  const params = withMeta(request);
  const head = `{"jsonrpc":"2.0","id":${String(request.id)},"method":${JSON.stringify(request.method)}`;
  return params === undefined ? `${head}}` : `${head},"params":${encodeMembers(params)}}`;
}

function withMeta({ params, meta, progressToken }: RequestLine): JsonObject | undefined {
  const own = params?.["_meta"];
  if (own !== undefined && !isJsonObject(own)) refuseArgument("params._meta", "must be an object");
  const merged: Record<string, unknown> = { ...own, ...meta };
  if (merged[MetaKey.progressToken] !== undefined) refuseArgument("meta", "holds progressToken, which the client sets");
  if (progressToken !== undefined) merged[MetaKey.progressToken] = progressToken;
  return Object.keys(merged).length > 0 ? { ...params, _meta: merged } : params;
}

/** Member by member, since only the outermost ones can be raw. */
function encodeMembers(params: JsonObject): string {
  const members: string[] = [];
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) members.push(`${JSON.stringify(name)}:${encodeValue(name, value)}`);
  }
  return `{${members.join(",")}}`;
}

function encodeValue(name: string, value: unknown): string {
  // Outside of strings, where JSON has none, a line end is white space; a line must not hold one.
  if (value instanceof RawJson) return value.text.replace(/[\r\n]/g, " ");
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    cause = error;
  }
  return text ?? refuseArgument(name, "has no JSON form", cause);
}
