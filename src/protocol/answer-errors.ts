import { type AnswerHints, RemoteConnectorError } from "../errors.js";
import { isJsonObject, type JsonObject, type JsonRpcError, RpcCode } from "./json-rpc.js";
import { plainText } from "./plain-text.js";

/** An answer that breaks the protocol. `unknown`: the server may have done what was asked. */
export function invalidAnswer(reason: string): RemoteConnectorError<"invalid_answer"> {
  return new RemoteConnectorError("invalid_answer", {
    message: `The answer breaks the protocol: ${reason}.`,
    delivery: "unknown",
    details: { reason },
  });
}

/** What HTTP said beside a JSON-RPC error. */
export interface PeerErrorContext extends AnswerHints {
  readonly httpStatus?: number | undefined;
  readonly withoutId?: true | undefined;
}

/** A JSON-RPC error of the peer: code, message and data are its own. `answered`. */
export function peerError(error: JsonRpcError, context: PeerErrorContext = {}): RemoteConnectorError<"peer_error"> {
  const { code, message, data } = error;
  return new RemoteConnectorError("peer_error", {
    message: `The server answered with the error ${String(code)}: ${plainText(message, 256)}`,
    delivery: "answered",
    details: { rpcCode: code, rpcMessage: message, rpcData: data, ...context, ...requirementIn(code, data) },
  });
}

/** What an error of a missing capability asks for. Source: 2026-07-28, Overview, Error Codes. */
function requirementIn(code: number, data: unknown): { readonly requiredCapabilities?: JsonObject } {
  if (code !== RpcCode.missingRequiredClientCapability || !isJsonObject(data)) return {};
  const { requiredCapabilities } = data;
  return isJsonObject(requiredCapabilities) ? { requiredCapabilities } : {};
}

/** The entries of a page of tools. Throws `invalid_answer` for a result that is no such page. */
export function toolEntries(result: JsonObject): readonly unknown[] {
  const { tools } = result;
  if (Array.isArray(tools)) return tools;
  throw invalidAnswer("tools/list without a list of tools");
}
