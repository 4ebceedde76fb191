import type { JsonRpcError, RequestId } from "../protocol/index.js";

/**
 * A JSON-RPC response around the bytes of a result, which go into it as they are: nothing is parsed, so that numbers
 * beyond 2^53, the order of members and members that nobody here knows survive. `rawResult` must be one JSON object.
 */
export function resultLine(id: RequestId, rawResult: Uint8Array): Uint8Array {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
  const headBytes = Buffer.byteLength(head);
  // One allocation and two copies: joining buffers is a good part of what a small answer costs.
  const line = Buffer.allocUnsafe(headBytes + rawResult.byteLength + 1);
  line.write(head, "utf8");
  line.set(rawResult, headBytes);
  line[line.byteLength - 1] = CLOSE_BRACE;
  return line;
}

const CLOSE_BRACE = 0x7d;

/** A JSON-RPC error response. Without an id the member is left out, as this revision has it. */
export function errorLine(id: RequestId | undefined, error: JsonRpcError): string {
  return JSON.stringify({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error });
}

/** A JSON-RPC notification. */
export function notificationLine(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) });
}
