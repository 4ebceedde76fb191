import type { IncomingMessage, ServerResponse } from "node:http";
import { RpcCode } from "../../protocol/index.js";
import { checkLoopbackHost, headerValue, readBody, refuse, sendEmpty, sendRefusal } from "../../serving/index.js";
import type { Bindings } from "./bindings.js";
import { classifySurface, isModernByHeaders, type SurfaceHeaders } from "./classify-surface.js";
import type { Exchange, Reply } from "./exchange.js";
import type { Exchanges } from "./exchanges.js";
import type { LegacySurface } from "./legacy-surface.js";
import type { ModernSurface } from "./modern-surface.js";
import type { LocalServerConfig } from "./options.js";
import { refusedAnswer } from "./refused-answer.js";

/** Where agents post. */
export const ENDPOINT_PATH = "/mcp";

const UNAUTHORIZED = refuse(401, undefined, RpcCode.invalidRequest, "A valid bearer is required");
const CHALLENGE = { "WWW-Authenticate": "Bearer" };
const CLOSING = refuse(503, undefined, RpcCode.internalError, "The server is closing");

export interface AgentEndpointParts {
  readonly config: LocalServerConfig;
  readonly bindings: Bindings;
  readonly exchanges: Exchanges;
  readonly modern: ModernSurface;
  readonly legacy: LegacySurface;
}

/**
 * The way in: lets through what comes from this machine, to the one path, as a POST, with a valid bearer and a body of
 * bounded size, in this order, and gives it to the surface that it is written for. Nothing of a body is read without a
 * bearer.
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

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { bindings, exchanges } = this.#parts;
    if (this.#turnAway(request, response)) return;
    const binding = bindings.match(request.headers);
    if (binding === undefined) {
      sendRefusal(response, UNAUTHORIZED, CHALLENGE);
      return;
    }
    const exchange = exchanges.open(binding, response);
    const { maxBodyBytes: maxBytes } = this.#parts.config;
    const reading = await readBody(request, { maxBytes });
    if (reading.kind === "aborted") return;
    if (reading.kind === "too_large") {
      const reason = `The body has more than ${String(maxBytes)} bytes (maxBodyBytes)`;
      exchange.reply(refusedAnswer(refuse(413, undefined, RpcCode.invalidRequest, reason)), { Connection: "close" });
      return;
    }
    if (exchange.ended !== undefined) {
      // The bearer, or the server, ended while the body came in.
      exchange.reply(refusedAnswer(this.#closed ? CLOSING : UNAUTHORIZED), this.#closed ? {} : CHALLENGE);
      return;
    }
    exchange.reply(await this.#answer(exchange, request, reading.body));
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
    } else if (request.method !== "POST") {
      sendEmpty(response, 405, { Allow: "POST" });
    } else {
      return false;
    }
    return true;
  }

  #answer(exchange: Exchange, { headers }: IncomingMessage, body: Uint8Array): Reply | Promise<Reply> {
    const { modern, legacy } = this.#parts;
    const shown: SurfaceHeaders = {
      version: headerValue(headers, "mcp-protocol-version"),
      method: headerValue(headers, "mcp-method"),
    };
    if (isModernByHeaders(shown)) return modern.answer(exchange, { headers, body });
    const parsed = parseJson(body);
    if (parsed === undefined) return refusedAnswer(refuse(400, undefined, RpcCode.parseError, "The body is not JSON"));
    const surface = classifySurface(shown, parsed.value);
    if (surface.kind === "modern") return modern.answer(exchange, { headers, body });
    if (surface.kind === "unsupported") {
      const reason = `Revision ${surface.revision} is not served over this transport`;
      return refusedAnswer(refuse(400, undefined, RpcCode.invalidRequest, reason));
    }
    const mayStream = /\btext\/event-stream\b/i.test(headerValue(headers, "accept") ?? "");
    return legacy.answer(exchange, { value: parsed.value, body, revision: surface.revision, mayStream });
  }
}

/** The path of a request's target, without its query. */
function pathOf({ url = "" }: IncomingMessage): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parseJson(body: Uint8Array): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(body));
    return { value };
  } catch {
    return undefined;
  }
}
