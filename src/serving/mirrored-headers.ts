import { decodeHeaderValue, type JsonObject, type RequestId } from "../protocol/index.js";
import { headerValue, type HeaderFields, isPlainHeaderValue } from "./header-fields.js";
import { type Refusal, refuseHeader, refuseParams } from "./refusal.js";

/**
 * The member of `params` that `Mcp-Name` mirrors, for each method that has one.
 * Source: 2026-07-28, Streamable HTTP, Standard Request Headers.
 */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

/** A request as far as its headers mirror it. */
export interface MirroredRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
}

/**
 * Compares `MCP-Protocol-Version` with the version that the body names, without any leeway.
 * Source: 2026-07-28, Streamable HTTP, Protocol Version Header.
 */
export function checkVersionHeader(headers: HeaderFields, id: RequestId, version: string): Refusal | undefined {
  return checkPlain(headers, id, "MCP-Protocol-Version", version);
}

/**
 * Compares `Mcp-Method` and `Mcp-Name` with the body. Values are compared with case; only `Mcp-Name` may be
 * Base64-wrapped, and is decoded first. Methods without a name do not look at `Mcp-Name`.
 * Source: 2026-07-28, Streamable HTTP, Server Validation.
 */
export function checkMethodHeaders(headers: HeaderFields, request: MirroredRequest): Refusal | undefined {
  return checkPlain(headers, request.id, "Mcp-Method", request.method) ?? checkName(headers, request);
}

function checkPlain(headers: HeaderFields, id: RequestId, header: string, expected: string): Refusal | undefined {
  const value = headerValue(headers, header.toLowerCase());
  if (value === undefined) return refuseHeader(id, header, "is missing");
  if (!isPlainHeaderValue(value)) return refuseHeader(id, header, "holds characters that a header can't carry");
  return value === expected ? undefined : refuseHeader(id, header, "does not equal the body");
}

function checkName(headers: HeaderFields, request: MirroredRequest): Refusal | undefined {
  const member = NAMED_BY.get(request.method);
  if (member === undefined) return undefined;
  const expected = request.params[member];
  if (typeof expected !== "string") return refuseParams(request.id, `params.${member} must be a string`);
  const value = headerValue(headers, "mcp-name");
  if (value === undefined) return refuseHeader(request.id, "Mcp-Name", "is missing");
  if (!isPlainHeaderValue(value)) {
    return refuseHeader(request.id, "Mcp-Name", "holds characters that a header can't carry");
  }
  const decoded = decodeHeaderValue(value);
  if (decoded === undefined) return refuseHeader(request.id, "Mcp-Name", "is not decodable Base64");
  return decoded === expected ? undefined : refuseHeader(request.id, "Mcp-Name", "does not equal the body");
}
