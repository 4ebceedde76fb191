import type { IncomingMessage, ServerResponse } from "node:http";
import { RemoteConnectorError } from "../../../errors.js";
import { RpcCode } from "../../../protocol/index.js";
import {
  acceptsStream,
  type HeaderFields,
  headerValue,
  type Refusal,
  refuse,
  sendEmpty,
  sendRefusal,
} from "../../../serving/index.js";
import { isLegacyHttpRevision } from "../classify-surface.js";
import { describeError } from "../describe-error.js";
import type { LocalServerConfig } from "../options.js";
import type { Binding } from "../ports.js";
import { Session } from "./session.js";
import type { Sessions } from "./sessions.js";

/** The header that names a session, in lower case. */
export const SESSION_HEADER = "mcp-session-id";

const NO_SESSION = refuse(404, undefined, RpcCode.invalidRequest, "This session is not open");
const NO_EVENT = refuse(400, undefined, RpcCode.invalidRequest, "Last-Event-ID names no event that is still known");
const NO_STREAM = refuse(406, undefined, RpcCode.invalidRequest, "Accept must name text/event-stream");

/**
 * The GET and the DELETE of sessions. Source: 2025-11-25, Transports, Listening for Messages from the Server; Session
 * Management.
 */
export class SessionEndpoint {
  readonly #sessions: Sessions;
  readonly #tooMany: Refusal;
  readonly #onDone: (binding: Binding) => void;

  /** `onDone` is told when a connection that listened is gone. */
  constructor(config: LocalServerConfig, sessions: Sessions, onDone: (binding: Binding) => void) {
    this.#sessions = sessions;
    this.#tooMany = tooManyListen(config);
    this.#onDone = onDone;
  }

  /**
   * The session that a request names; `undefined` when it names none. A refusal (404) when it is not open for the binding,
   * whoever else may have it.
   */
  find(headers: HeaderFields, binding: Binding): Session | Refusal | undefined {
    const id = headerValue(headers, SESSION_HEADER);
    return id === undefined ? undefined : (this.#sessions.find(id, binding) ?? NO_SESSION);
  }

  /** Answers a GET or a DELETE. */
  answer(binding: Binding, request: IncomingMessage, response: ServerResponse): void {
    const { headers, method } = request;
    const session = this.find(headers, binding) ?? NO_SESSION;
    if (!(session instanceof Session)) {
      sendRefusal(response, session);
      return;
    }
    const version = headerValue(headers, "mcp-protocol-version");
    if (version !== undefined && !isLegacyHttpRevision(version)) {
      const reason = `Revision ${version.slice(0, 64)} has no sessions here`;
      sendRefusal(response, refuse(400, undefined, RpcCode.invalidRequest, reason));
    } else if (method === "DELETE") {
      this.#sessions.end(session);
      sendEmpty(response, 204);
    } else if (!acceptsStream(headers)) {
      sendRefusal(response, NO_STREAM);
    } else {
      this.#listen(session, request, response);
    }
  }

  #listen(session: Session, { headers }: IncomingMessage, response: ServerResponse): void {
    const verdict = session.listen(response, headerValue(headers, "last-event-id"));
    if (verdict !== "opened") {
      sendRefusal(response, verdict === "unknown_event" ? NO_EVENT : this.#tooMany);
      return;
    }
    response.once("close", () => {
      session.touch();
      this.#onDone(session.binding);
    });
  }
}

function tooManyListen({ maxSubscriptions: limit, deliveryKey }: LocalServerConfig): Refusal {
  const tooMany = new RemoteConnectorError("limit_exceeded", {
    message: `${String(limit)} streams of this agent listen; end one, or raise maxSubscriptions.`,
    details: { option: "maxSubscriptions", limit },
  });
  const { error } = describeError(tooMany, { deliveryKey, era: "legacy" });
  return refuse(429, undefined, error.code, error.message, error.data);
}
