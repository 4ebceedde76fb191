import { MetaKey, MODERN_REVISIONS, type RequestId } from "../../protocol/index.js";
import {
  classifyModernRequest,
  type HeaderFields,
  type ModernCall,
  refuseMethod,
  resultLine,
} from "../../serving/index.js";
import { callTool } from "./call-tool.js";
import type { Answer, Exchange, Reply } from "./exchange.js";
import { listTools } from "./list-tools.js";
import type { LocalServerConfig } from "./options.js";
import type { Binding } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Subscriptions } from "./subscriptions.js";

/** A POST of an agent, with its body read. */
export interface PostedMessage {
  readonly headers: HeaderFields;
  readonly body: Uint8Array;
}

/**
 * The surface of revision 2026-07-28: `server/discover`, `tools/list`, `tools/call`, `subscriptions/listen`. Every request
 * stands alone. Methods that the revision does not have, or that nobody here offers, get 404.
 */
export class ModernSurface {
  readonly #config: LocalServerConfig;
  readonly #subscriptions: Subscriptions;

  constructor(config: LocalServerConfig, subscriptions: Subscriptions) {
    this.#config = config;
    this.#subscriptions = subscriptions;
  }

  /** Answers one POST. Never rejects for what an agent sent. */
  async answer(exchange: Exchange, { headers, body }: PostedMessage): Promise<Reply> {
    const request = classifyModernRequest(headers, body, MODERN_REVISIONS);
    if (request.kind === "refused") return refusedAnswer(request);
    if (request.kind === "notification") return "accepted";
    exchange.mayStream = true;
    return this.#dispatch(exchange, request, { headers, body });
  }

  #dispatch(exchange: Exchange, request: ModernCall, { headers, body }: PostedMessage): Answer | Promise<Answer> {
    const { id, params, meta } = request;
    switch (request.method) {
      case "server/discover":
        return this.#discover(exchange.binding, id);
      case "tools/list":
        return listTools(this.#config, exchange, { id, params, era: "modern" });
      case "tools/call": {
        const { progressToken, logLevel } = meta;
        const message = body;
        return callTool(this.#config, exchange, {
          id,
          params,
          message,
          era: "modern",
          headers,
          progressToken,
          logLevel,
        });
      }
      case "subscriptions/listen":
        return this.#subscriptions.listen(exchange, { id, params });
      default:
        return refusedAnswer(refuseMethod(id, request.method));
    }
  }

  /** Stale at once, because the instructions change with the connectors. Source: 2026-07-28, Discovery. */
  #discover(binding: Binding, id: RequestId): Answer {
    const result = {
      resultType: "complete",
      supportedVersions: MODERN_REVISIONS,
      capabilities: { tools: { listChanged: true } },
      instructions: this.#config.directory.instructions?.(binding),
      ttlMs: 0,
      cacheScope: "private",
      _meta: { [MetaKey.serverInfo]: this.#config.serverInfo },
    };
    return { status: 200, body: resultLine(id, Buffer.from(JSON.stringify(result), "utf8")) };
  }
}
