import { ReceivedRequest } from "../../../src/testing/received-request.js";

/** A POST with a message, as the server receives it. */
export function received(message: object, changes: Partial<Pick<ReceivedRequest, "verb" | "target" | "headers">> = {}) {
  const body = Buffer.from(JSON.stringify(message));
  return new ReceivedRequest({ verb: "POST", target: "/mcp", headers: [], body, ...changes }, 0);
}

/** A request for a method. */
export function rpc(method: string, params: object = {}, id: string | number = 7): ReceivedRequest {
  return received({ jsonrpc: "2.0", id, method, params });
}
