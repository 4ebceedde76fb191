import { isRemoteConnectorError } from "../errors.js";
import { isJsonObject } from "../protocol/index.js";
import {
  type Answerer,
  answererOf,
  type InputContext,
  type InputHandlers,
  readInputRequest,
} from "../protocol/input/index.js";

/** The error of a server that wants pages to be visited before it does what it was asked. Source: 2025-11-25, Elicitation. */
const URL_ELICITATION_REQUIRED = -32042;

/**
 * What to ask the person before a refused request is made again; `undefined` when the failure is no such refusal, or nobody here
 * takes visits, or a visit is to an address that nobody should be sent to. Pure.
 */
export function askedVisits(failure: unknown, handlers: InputHandlers): readonly Answerer[] | undefined {
  if (!isRemoteConnectorError(failure, "peer_error") || failure.details.rpcCode !== URL_ELICITATION_REQUIRED) {
    return undefined;
  }
  const { rpcData } = failure.details;
  const elicitations = isJsonObject(rpcData) ? rpcData["elicitations"] : undefined;
  if (!Array.isArray(elicitations) || elicitations.length === 0 || handlers.elicitation?.url === undefined) {
    return undefined;
  }
  try {
    return elicitations.map((params: unknown) => {
      const request = readInputRequest({ method: "elicitation/create", params });
      return answererOf("elicitations", request, { handlers, loadValidator: noForm, ours: (work) => work() });
    });
  } catch {
    return undefined;
  }
}

/** Whether the person consents to all of them, one after the other. False as soon as one is declined, or its handler fails. */
export async function visitAll(visits: readonly Answerer[], context: InputContext): Promise<boolean> {
  try {
    for (const visit of visits) {
      const { action } = await visit(context);
      if (action !== "accept" || context.signal.aborted) return false;
    }
    return true;
  } catch {
    return false;
  }
}

function noForm(): never {
  throw new Error("A visit has no form.");
}
