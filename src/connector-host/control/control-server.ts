import type { IncomingMessage, ServerResponse } from "node:http";
import { isRemoteConnectorError } from "../../errors.js";
import { parseJsonBody, readBody, sendJson, whenGone } from "../../serving/index.js";
import { systemClock } from "../../transport/index.js";
import { type AdminPlane, answerVerb, Confirmations, MAX_VERB_BYTES } from "../admin/index.js";
import { listenInState, type StateSocket } from "../state-socket/index.js";
import { classifyControlRequest } from "./classify-request.js";
import { controlAddress } from "./control-address.js";
import type { HostControl } from "./host-control.js";

export interface ControlServerOptions {
  /** Of the host, whose store is open: nobody else has it then, and a socket that is there is one of the past. */
  readonly stateDirectory: string;
  readonly control: HostControl;
  readonly admin: AdminPlane;
  /** Told when something failed that is a fault of ours. */
  readonly onFault: (error: unknown) => void;
}

/** Of requests that say nothing in their body. */
const MAX_BODY_BYTES = 1_024;
const REQUEST_TIMEOUT_MS = 5_000;

/**
 * Listens on the control socket of a state directory. Rejects with `listen_failed`: its `reason` is `path_too_long` for a
 * directory whose path leaves no room for the socket's name, else the system's code.
 */
export function openControlServer(options: ControlServerOptions): Promise<StateSocket> {
  const { stateDirectory, onFault } = options;
  const address = controlAddress(stateDirectory, process.platform);
  const parts: ControlParts = { ...options, confirmations: new Confirmations({ now: () => systemClock.now() }) };
  const handler = (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    answer(request, response, parts);
  return listenInState(address, handler, {
    headersTimeoutMs: REQUEST_TIMEOUT_MS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    onFault,
  });
}

interface ControlParts extends ControlServerOptions {
  /** Of people who are asked whether something is to be done. */
  readonly confirmations: Confirmations;
}

async function answer(request: IncomingMessage, response: ServerResponse, parts: ControlParts): Promise<void> {
  const { admin, confirmations, control, onFault } = parts;
  const verdict = classifyControlRequest(request);
  const maxBytes = verdict.kind === "verb" ? MAX_VERB_BYTES : MAX_BODY_BYTES;
  const reading = await readBody(request, { maxBytes });
  if (reading.kind === "aborted") return;
  if (reading.kind === "too_large") return refuse(response, 413, "body_too_large", { Connection: "close" });
  switch (verdict.kind) {
    case "refused":
      return refuse(
        response,
        verdict.status,
        verdict.reason,
        verdict.allow === undefined ? {} : { Allow: verdict.allow },
      );
    case "verb": {
      const body = parseJsonBody(reading.body)?.value;
      const signal = whenGone(response);
      const { name } = verdict;
      const answered = await answerVerb({ name, body, plane: admin, confirmations, signal, onFault });
      return sendJson(response, answered.status, answered.body);
    }
    case "refresh":
      control.refresh();
      return sendJson(response, 202, "{}");
    case "status":
      try {
        return sendJson(response, 200, JSON.stringify(await control.status()));
      } catch (error) {
        onFault(error);
        return refuse(response, 500, isRemoteConnectorError(error) ? error.code : "internal_error");
      }
  }
}

function refuse(
  response: ServerResponse,
  status: number,
  reason: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(response, status, JSON.stringify({ error: { reason } }), headers);
}
