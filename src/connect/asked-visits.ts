import { isRemoteConnectorError } from "../errors.js";
import { isJsonObject } from "../protocol/index.js";
import {
  type Answerer,
  answererOf,
  classifyAsk,
  type InputContext,
  type InputHandlers,
  type InputRelay,
  type InputRequest,
  readInputRequest,
  serverAskOf,
} from "../protocol/input/index.js";

/** The error of a server that wants pages to be visited before it does what it was asked. Source: 2025-11-25, Elicitation. */
const URL_ELICITATION_REQUIRED = -32042;

/** Who is asked: handlers, or a relay in their place. */
export interface VisitSources {
  readonly handlers: InputHandlers;
  readonly relay: InputRelay | undefined;
}

const METHOD = "elicitation/create";

/** Whether anybody takes visits. Pure. */
export function takesVisits({ handlers, relay }: VisitSources): boolean {
  if (relay === undefined) return handlers.elicitation?.url !== undefined;
  return classifyAsk(METHOD, { mode: "url" }, relay.capabilities).kind === "declared";
}

/**
 * What to ask the person before a refused request is made again; `undefined` when the failure is no such refusal, or nobody here
 * takes visits, or a visit is to an address that nobody should be sent to. Pure.
 */
export function askedVisits(failure: unknown, sources: VisitSources): readonly Answerer[] | undefined {
  if (!isRemoteConnectorError(failure, "peer_error") || failure.details.rpcCode !== URL_ELICITATION_REQUIRED) {
    return undefined;
  }
  const { rpcData } = failure.details;
  const elicitations = isJsonObject(rpcData) ? rpcData["elicitations"] : undefined;
  if (!Array.isArray(elicitations) || elicitations.length === 0 || !takesVisits(sources)) return undefined;
  const { handlers, relay } = sources;
  try {
    return elicitations.map((params: unknown) => {
      const request = readInputRequest({ method: METHOD, params });
      return relay === undefined
        ? answererOf("elicitations", request, { handlers, loadValidator: noForm, ours: (work) => work() })
        : relayedVisit(relay, request, params);
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

/** As it came. Throws for what is no visit: that is refused as a whole. */
function relayedVisit(relay: InputRelay, { kind }: InputRequest, params: unknown): Answerer {
  if (kind !== "url") throw new Error("It is no visit.");
  return async ({ signal }) => {
    const answer = await relay.answer(serverAskOf(METHOD, params), signal);
    return "result" in answer ? answer.result : {};
  };
}

function noForm(): never {
  throw new Error("A visit has no form.");
}
