import type { IncomingMessage, ServerResponse } from "node:http";
import { RpcCode } from "../../protocol/index.js";
import {
  acceptsStream,
  checkLoopbackHost,
  headerValue,
  parseJsonBody,
  readBody,
  type Refusal,
  refuse,
  sendEmpty,
  sendRefusal,
} from "../../serving/index.js";
import type { Bindings } from "./bindings.js";
import type { DurableBindings } from "./durable-bindings.js";
import { classifySurface, isModernByHeaders, type SurfaceHeaders } from "./classify-surface.js";
import type { Exchange } from "./exchange.js";
import type { Exchanges } from "./exchanges.js";
import type { LegacySurface } from "./legacy-surface.js";
import type { ModernSurface } from "./modern-surface.js";
import type { LocalServerConfig } from "./options.js";
import type { Binding } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Reply } from "./request-target.js";
import { SESSION_HEADER, Session, type SessionEndpoint } from "./sessions/index.js";

/** Where agents post. */
export const ENDPOINT_PATH = "/mcp";

const UNAUTHORIZED = refuse(401, undefined, RpcCode.invalidRequest, "A valid bearer is required");
const CHALLENGE = { "WWW-Authenticate": "Bearer" };
const CLOSING = refuse(503, undefined, RpcCode.internalError, "The server is closing");

export interface AgentEndpointParts {
  readonly config: LocalServerConfig;
  readonly bindings: Bindings;
  readonly durable: DurableBindings;
  readonly exchanges: Exchanges;
  readonly modern: ModernSurface;
  readonly legacy: LegacySurface;
  readonly sessions: SessionEndpoint;
}

/**
 * The way in: lets through what comes from this machine, to the one path, as a POST or with the name of a session, with a
 * valid bearer and a body of bounded size, in this order, and gives it to the surface that it is written for. Nothing of a
 * body is read without a bearer.
 */
export class AgentEndpoint {
  readonly #parts: AgentEndpointParts;
  #closed = false;

  constructor(parts: AgentEndpointParts) {
    this.#parts = parts;
  }

  /** From now on every request is answered with 503. */
  close(): void {
    this.#closed = true;
  }

  handle(request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    const { bindings, durable } = this.#parts;
    if (this.#turnAway(request, response)) return;
    const binding = bindings.match(request.headers) ?? durable.match(request.headers);
    if (binding !== undefined) return this.#serve(binding, "bearer", request, response);
    sendRefusal(response, UNAUTHORIZED, CHALLENGE);
  }

  /** Like `handle`, for a request of a durable binding that shows no bearer and mirrors nothing in headers. */
  async handleNamed(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#turnAway(request, response)) return;
    const binding = this.#parts.durable.named(name);
    if (binding === undefined) sendRefusal(response, unknownName(name));
    else await this.#serve(binding, "name", request, response);
  }

  async #serve(
    binding: Binding,
    shownBy: "bearer" | "name",
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (request.method !== "POST") {
      this.#parts.sessions.answer(binding, request, response);
      return;
    }
    const exchange = this.#parts.exchanges.open(binding, response);
    const { maxBodyBytes: maxBytes } = this.#parts.config;
    const reading = await readBody(request, { maxBytes });
    if (reading.kind === "aborted") return;
    if (reading.kind === "too_large") {
      const reason = `The body has more than ${String(maxBytes)} bytes (maxBodyBytes)`;
      exchange.reply(refusedAnswer(refuse(413, undefined, RpcCode.invalidRequest, reason)), { Connection: "close" });
      return;
    }
    if (exchange.ended !== undefined) {
      // The binding, or the server, ended while the body came in.
      const isBearer = shownBy === "bearer" && !this.#closed;
      const refusal = shownBy === "bearer" ? UNAUTHORIZED : unknownName(binding.agentSessionId);
      exchange.reply(refusedAnswer(this.#closed ? CLOSING : refusal), isBearer ? CHALLENGE : {});
      return;
    }
    exchange.reply(await this.#answer(exchange, shownBy, request, reading.body));
  }

  /** Answers what has no business here; says whether it did. */
  #turnAway(request: IncomingMessage, response: ServerResponse): boolean {
    const verdict = checkLoopbackHost(request.headers, this.#parts.config.allowedOrigins);
    if (verdict.kind === "refused") {
      sendRefusal(response, refuse(403, undefined, RpcCode.invalidRequest, `This ${verdict.header} may not call here`));
    } else if (this.#closed) {
      sendRefusal(response, CLOSING, { Connection: "close" });
    } else if (pathOf(request) !== ENDPOINT_PATH) {
      sendEmpty(response, 404);
    } else if (request.method !== "POST" && !isOfSession(request)) {
      sendEmpty(response, 405, { Allow: "POST" });
    } else {
      return false;
    }
    return true;
  }

  #answer(
    exchange: Exchange,
    shownBy: "bearer" | "name",
    { headers }: IncomingMessage,
    body: Uint8Array,
  ): Reply | Promise<Reply> {
    const { modern, legacy, sessions } = this.#parts;
    const mirrored = shownBy === "bearer" ? headers : undefined;
    const shown: SurfaceHeaders = {
      version: headerValue(headers, "mcp-protocol-version"),
      method: headerValue(headers, "mcp-method"),
    };
    if (isModernByHeaders(shown)) return modern.answer(exchange, { headers: mirrored, body });
    const parsed = parseJsonBody(body);
    if (parsed === undefined) return refusedAnswer(refuse(400, undefined, RpcCode.parseError, "The body is not JSON"));
    const surface = classifySurface(shown, parsed.value);
    if (surface.kind === "modern") return modern.answer(exchange, { headers: mirrored, body, parsed });
    if (surface.kind === "unsupported") {
      const reason = `Revision ${surface.revision} is not served over this transport`;
      return refusedAnswer(refuse(400, undefined, RpcCode.invalidRequest, reason));
    }
    const session = sessions.find(headers, exchange.binding);
    if (session !== undefined && !(session instanceof Session)) return refusedAnswer(session);
    const mayStream = acceptsStream(headers);
    const revision = session?.revision ?? surface.revision;
    return legacy.answer(exchange, { value: parsed.value, body, revision, mayStream, session });
  }
}

/** Whether it is one of the methods that only sessions have. */
function isOfSession({ method, headers }: IncomingMessage): boolean {
  return (method === "GET" || method === "DELETE") && headerValue(headers, SESSION_HEADER) !== undefined;
}

function unknownName(name: string): Refusal {
  const shown = JSON.stringify(name.slice(0, 64));
  const reason = `There is no durable binding ${shown}; make one of this name on the host, then try again`;
  return refuse(403, undefined, RpcCode.invalidRequest, reason);
}

/** The path of a request's target, without its query. */
function pathOf({ url = "" }: IncomingMessage): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}
