import { MetaKey, MODERN_REVISIONS, type RequestId } from "../../protocol/index.js";
import {
  classifyModernRequest,
  type HeaderFields,
  type ModernCall,
  refuseMethod,
  resultLine,
} from "../../serving/index.js";
import { answerRequest } from "./answer-request.js";
import { capabilitiesOf } from "./capabilities.js";
import type { Exchange } from "./exchange.js";
import type { LocalServerConfig } from "./options.js";
import type { Binding } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Answer, Reply } from "./request-target.js";
import type { Subscriptions } from "./subscriptions.js";

/** A POST of an agent, with its body read. */
export interface PostedMessage {
  /** Left out where nothing is mirrored in headers. */
  readonly headers: HeaderFields | undefined;
  readonly body: Uint8Array;
  /** The body's value, when it was parsed to find out which surface it is for. */
  readonly parsed?: { readonly value: unknown };
}

/**
 * The surface of revision 2026-07-28: discovery, subscriptions, and the methods that both eras have. Every request stands
 * alone. Methods that the revision does not have, or that nobody here offers, get 404.
 */
export class ModernSurface {
  readonly #config: LocalServerConfig;
  readonly #subscriptions: Subscriptions;

  constructor(config: LocalServerConfig, subscriptions: Subscriptions) {
    this.#config = config;
    this.#subscriptions = subscriptions;
  }

  /** Answers one POST. Never rejects for what an agent sent. */
  answer(exchange: Exchange, { headers, body, parsed }: PostedMessage): Reply | Promise<Reply> {
    const request = classifyModernRequest(headers, body, MODERN_REVISIONS, parsed);
    if (request.kind === "refused") return refusedAnswer(request);
    if (request.kind === "notification") return "accepted";
    exchange.mayStream = true;
    return this.#dispatch(exchange, request, { headers, body });
  }

  #dispatch(exchange: Exchange, request: ModernCall, { headers, body }: PostedMessage): Answer | Promise<Answer> {
    const { id, method, params, meta } = request;
    if (method === "server/discover") return this.#discover(exchange.binding, id);
    if (method === "subscriptions/listen") return this.#subscriptions.listen(exchange, { id, params });
    const { progressToken, logLevel, clientCapabilities } = meta;
    const said = { progressToken, logLevel, clientCapabilities };
    const asked = { id, method, params, message: body, era: "modern" as const, headers, ...said };
    return answerRequest(this.#config, exchange, asked) ?? refusedAnswer(refuseMethod(id, method));
  }

  /** Stale at once, because the instructions change with the connectors. Source: 2026-07-28, Discovery. */
  #discover(binding: Binding, id: RequestId): Answer {
    const { directory, serverInfo } = this.#config;
    const result = {
      resultType: "complete",
      supportedVersions: MODERN_REVISIONS,
      capabilities: capabilitiesOf(directory, { listens: true, logs: true }),
      instructions: directory.instructions?.(binding),
      ttlMs: 0,
      cacheScope: "private",
      _meta: { [MetaKey.serverInfo]: serverInfo },
    };
    return { status: 200, body: resultLine(id, Buffer.from(JSON.stringify(result), "utf8")) };
  }
}
