import type { IncomingMessage, ServerResponse } from "node:http";
import { headerValue } from "../../serving/index.js";
import { listenInState, type StateSocket } from "../state-socket/index.js";
import { agentAddress } from "./agent-address.js";
import { BINDING_HEADER } from "./agent-path.js";

/** Who answers what comes over the socket. */
export interface NamedAgents {
  /** Answers a request for the durable binding of this name; `""` when it named none. */
  answerNamed(name: string, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface AgentServerOptions {
  /** Of the host, whose store is open: nobody else has it then, and a socket that is there is one of the past. */
  readonly stateDirectory: string;
  readonly agents: NamedAgents;
  /** Told when something failed that is a fault of ours. */
  readonly onFault: (error: unknown) => void;
}

const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * Listens on the agent socket of a state directory. Rejects with `listen_failed`: its `reason` is `path_too_long` for a
 * directory whose path leaves no room for the socket's name, else the system's code.
 */
export function openAgentServer({ stateDirectory, agents, onFault }: AgentServerOptions): Promise<StateSocket> {
  const address = agentAddress(stateDirectory, process.platform);
  const name = BINDING_HEADER.toLowerCase();
  return listenInState(
    address,
    (request, response) => agents.answerNamed(headerValue(request.headers, name) ?? "", request, response),
    { headersTimeoutMs: HEADERS_TIMEOUT_MS, requestTimeoutMs: REQUEST_TIMEOUT_MS, onFault },
  );
}
