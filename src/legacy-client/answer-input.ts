import { isRemoteConnectorError } from "../errors.js";
import {
  answererOf,
  type Answerer,
  type InputHandlers,
  type InputRequest,
  readInputRequest,
} from "../protocol/input/index.js";
import { type Diagnostic, type JsonRpcError, type LoadValidator, RpcCode } from "../protocol/index.js";
import type { ServerRequestAnswerer } from "./server-requests.js";

/** What the answers to a server's requests for input depend on. */
export interface InputSources {
  readonly handlers: InputHandlers;
  /** Gives what judges the content of forms. */
  readonly loadValidator: LoadValidator;
  /** Where the server is: the one thing that it can't make up. */
  readonly origin: string;
  /** Told of a handler that threw, or gave what can't be sent. */
  readonly onDiagnostic: (diagnostic: Diagnostic) => void;
}

/** What a client says to a server when a person, or who stands for one, refuses to sample. Source: 2025-11-25, Sampling. */
const REFUSED: JsonRpcError = { code: -1, message: "The sampling request was refused." };
const METHOD_NOT_FOUND: JsonRpcError = { code: RpcCode.methodNotFound, message: "Method not found" };
const FAILED: JsonRpcError = { code: RpcCode.internalError, message: "No answer could be given." };

/**
 * Answers `elicitation/create`, `sampling/createMessage` and `roots/list` by the handlers that are there; every other request is
 * "method not found". What a handler was not declared for is "invalid params". A sampling handler that throws has refused;
 * any other is an internal error, and a diagnostic. Never rejects. Absent without handlers.
 *
 * Source: 2025-11-25, Elicitation; Sampling; Roots.
 */
export function inputAnswerer(sources: InputSources): ServerRequestAnswerer | undefined {
  const { handlers, loadValidator, origin, onDiagnostic } = sources;
  const has = methodsOf(handlers);
  if (has.size === 0) return undefined;
  return async ({ method, params }, { signal, serverInfo }) => {
    if (!has.has(method)) return { error: METHOD_NOT_FOUND };
    let request: InputRequest;
    let answer: Answerer;
    try {
      request = readInputRequest({ method, params });
      answer = answererOf(method, request, { handlers, loadValidator, ours: atOnce });
    } catch (error) {
      return { error: refusalOf(error) };
    }
    try {
      return { result: await answer({ server: { origin, info: serverInfo }, signal }) };
    } catch (error) {
      if (request.kind === "sampling") return { error: REFUSED };
      const reason = isRemoteConnectorError(error) ? error.message : `The handler of ${request.kind} threw.`;
      onDiagnostic({ kind: "handler_failed", message: reason, subject: method });
      return { error: FAILED };
    }
  };
}

function methodsOf({ elicitation, sampling, roots }: InputHandlers): ReadonlySet<string> {
  const methods = new Set<string>();
  if (elicitation?.form !== undefined || elicitation?.url !== undefined) methods.add("elicitation/create");
  if (sampling !== undefined) methods.add("sampling/createMessage");
  if (roots !== undefined) methods.add("roots/list");
  return methods;
}

/** The server's request breaks the protocol, or asks for what was not declared. */
function refusalOf(error: unknown): JsonRpcError {
  const message = isRemoteConnectorError(error) ? error.message : "Invalid params";
  return { code: RpcCode.invalidParams, message };
}

/** No deadline of ours runs while a server waits for us. */
function atOnce<W>(work: () => Promise<W>): Promise<W> {
  return work();
}
