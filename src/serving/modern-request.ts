import {
  classifyMessage,
  isJsonObject,
  isRequestId,
  type JsonObject,
  type RequestId,
  RpcCode,
} from "../protocol/index.js";
import type { HeaderFields } from "./header-fields.js";
import { parseJsonBody } from "./json-body.js";
import { acceptsBothAnswers, hasJsonContent } from "./media-types.js";
import { checkMethodHeaders, checkVersionHeader } from "./mirrored-headers.js";
import { type Refusal, refuse, refuseParams } from "./refusal.js";
import { readRequestMeta, readVersion, type RequestMeta } from "./request-meta.js";

/** A request that passed every check of the revision that does not depend on what the server offers. */
export interface ModernCall {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly meta: RequestMeta;
}

/** A notification. This revision defines none over HTTP, so that nothing but its shape was checked. */
export interface ModernNotification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: unknown;
}

export type ModernRequest = ModernCall | ModernNotification | Refusal;

/**
 * Judges one POST of revision 2026-07-28: media types, JSON, the kind of message, the version, the rest of `_meta`, the
 * other mirrored headers, in this order. The first fault found decides. Pure; never throws.
 *
 * Without `headers`, as over a stream of lines, nothing is mirrored: only the body is judged. `known` is the body's value, for
 * whoever has parsed it already.
 *
 * What it does not know, the server checks afterwards: whether it has the method (404, `-32601`), and the parameter
 * headers of a tool ({@link checkParameterHeaders}).
 *
 * | fault | status, code |
 * |---|---|
 * | `Content-Type` is not JSON | 415, `-32600` |
 * | `Accept` does not list both kinds of answer | 406, `-32600` |
 * | the body is not UTF-8 or not JSON | 400, `-32700` |
 * | a batch, a response, no JSON-RPC message | 400, `-32600` |
 * | an `initialize` without `_meta`, or a version that is not among `supportedVersions` | 400, `-32022` |
 * | `_meta` or the name that a method needs is missing or malformed | 400, `-32602` |
 * | a mirrored header is missing, malformed, or differs from the body | 400, `-32020` |
 *
 * Source: 2026-07-28, Streamable HTTP, Sending Messages, Request Metadata; Overview, `_meta`; Versioning.
 */
export function classifyModernRequest(
  headers: HeaderFields | undefined,
  body: Uint8Array,
  supportedVersions: readonly string[],
  known?: { readonly value: unknown },
): ModernRequest {
  if (headers !== undefined && !hasJsonContent(headers)) {
    return refuse(415, undefined, RpcCode.invalidRequest, "Content-Type must be application/json");
  }
  if (headers !== undefined && !acceptsBothAnswers(headers)) {
    const reason = "Accept must list application/json and text/event-stream";
    return refuse(406, undefined, RpcCode.invalidRequest, reason);
  }
  const parsed = known ?? parseJsonBody(body);
  if (parsed === undefined) return refuse(400, undefined, RpcCode.parseError, "The body is not JSON");
  const message = classifyMessage(parsed.value);
  if (message.kind === "request") return classifyRequest(headers, message, supportedVersions);
  if (message.kind === "notification") {
    return { kind: "notification", method: message.method, params: message.params };
  }
  if (message.kind === "invalid") {
    const reason = `The body is no JSON-RPC request: ${message.reason}`;
    return refuse(400, requestIdOf(parsed.value), RpcCode.invalidRequest, reason);
  }
  return refuse(400, undefined, RpcCode.invalidRequest, "A response can't be posted");
}

/** The id of what was meant as a request; an answer without it could not be told from others. */
function requestIdOf(value: unknown): RequestId | undefined {
  if (!isJsonObject(value) || value["method"] === undefined) return undefined;
  return isRequestId(value["id"]) ? value["id"] : undefined;
}

function classifyRequest(
  headers: HeaderFields | undefined,
  message: { readonly id: RequestId; readonly method: string; readonly params: unknown },
  supportedVersions: readonly string[],
): ModernRequest {
  const { id, method } = message;
  const params = message.params ?? {};
  if (!isJsonObject(params)) return refuseParams(id, "params must be an object");
  const named = readVersion(params);
  if (named.kind === "invalid") {
    if (method === "initialize") return refuseVersion(id, params["protocolVersion"], supportedVersions);
    return refuseParams(id, named.reason);
  }
  const { members, protocolVersion } = named;
  const mismatch = headers && checkVersionHeader(headers, id, protocolVersion);
  if (mismatch !== undefined) return mismatch;
  if (!supportedVersions.includes(protocolVersion)) return refuseVersion(id, protocolVersion, supportedVersions);
  const read = readRequestMeta(members, protocolVersion);
  if (read.kind === "invalid") return refuseParams(id, read.reason);
  const { meta } = read;
  const unmirrored = headers && checkMethodHeaders(headers, { id, method, params });
  return unmirrored ?? { kind: "request", id, method, params, meta };
}

/**
 * `initialize` gets this answer too: a program of an older revision can do nothing but show it, so that it names what
 * would be understood. Source: 2026-07-28, Versioning, Backward Compatibility.
 */
function refuseVersion(id: RequestId, requested: unknown, supported: readonly string[]): Refusal {
  const data = { supported, requested: typeof requested === "string" ? requested : "unknown" };
  return refuse(400, id, RpcCode.unsupportedProtocolVersion, "Unsupported protocol version", data);
}
