import { type JsonRpcError, RpcCode } from "../protocol/index.js";
import { classifyAsk, type InputRelay, serverAskOf } from "../protocol/input/index.js";
import type { ServerRequestAnswerer } from "./server-requests.js";

const METHOD_NOT_FOUND: JsonRpcError = { code: RpcCode.methodNotFound, message: "Method not found" };

/**
 * Hands `elicitation/create`, `sampling/createMessage` and `roots/list` on as they come, and gives back what the relay answers. Nobody is
 * asked what was not declared: another method is "method not found", another mode of elicitation and sampling with tools are
 * "invalid params". Absent when nothing is declared. It rejects with what the relay rejects with.
 *
 * Source: 2025-11-25, Elicitation; Sampling; Roots.
 */
export function relayAnswerer({ capabilities, answer }: InputRelay): ServerRequestAnswerer | undefined {
  if (Object.keys(capabilities).length === 0) return undefined;
  return async ({ method, params }, { signal }) => {
    const verdict = classifyAsk(method, params, capabilities);
    switch (verdict.kind) {
      case "declared":
        return answer(serverAskOf(method, params), signal);
      case "unknown_method":
        return { error: METHOD_NOT_FOUND };
      case "invalid_params":
        return { error: { code: RpcCode.invalidParams, message: `Invalid params: ${verdict.reason}.` } };
    }
  };
}
