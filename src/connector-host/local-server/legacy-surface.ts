import {
  classifyMessage,
  isJsonObject,
  isRequestId,
  type JsonObject,
  type Message,
  type RequestId,
  RpcCode,
} from "../../protocol/index.js";
import { refuse, refuseMethod, refuseParams, resultLine } from "../../serving/index.js";
import { callTool } from "./call-tool.js";
import { isLegacyHttpRevision, LEGACY_HTTP_REVISIONS, type LegacyHttpRevision } from "./classify-surface.js";
import type { Answer, Exchange, Reply } from "./exchange.js";
import type { Exchanges } from "./exchanges.js";
import { listTools } from "./list-tools.js";
import type { LocalServerConfig } from "./options.js";
import { refusedAnswer } from "./refused-answer.js";
import { splitBatch } from "./split-batch.js";

/** A POST of an agent that speaks a legacy revision, parsed. */
export interface LegacyMessage {
  readonly value: unknown;
  readonly body: Uint8Array;
  readonly revision: LegacyHttpRevision;
  /** Whether the agent takes a stream. */
  readonly mayStream: boolean;
}

type LegacyRequest = Extract<Message, { kind: "request" }>;

/** The one legacy revision that has batches. */
const BATCH_REVISION = "2025-03-26";
const MAX_BATCH = 64;

/**
 * The surface of the revisions 2025-03-26 to 2025-11-25, without sessions: `initialize`, `ping`, `tools/list`,
 * `tools/call`, and notifications. Nothing is remembered between requests, so that none needs another one before it.
 *
 * Errors of requests travel with status 200, since these revisions read a JSON-RPC error only there.
 */
export class LegacySurface {
  readonly #config: LocalServerConfig;
  readonly #exchanges: Exchanges;

  constructor(config: LocalServerConfig, exchanges: Exchanges) {
    this.#config = config;
    this.#exchanges = exchanges;
  }

  /** Answers one POST. Never rejects for what an agent sent. */
  async answer(exchange: Exchange, { value, body, revision, mayStream }: LegacyMessage): Promise<Reply> {
    if (Array.isArray(value)) return this.#answerBatch(exchange, value, body, revision);
    const message = classifyMessage(value);
    if (message.kind === "request") {
      exchange.requestId = message.id;
      exchange.mayStream = mayStream;
    }
    return this.#answerOne(exchange, message, body);
  }

  /** Source: 2025-03-26, Overview, Batching; Transports, Sending Messages; Lifecycle, Initialization. */
  async #answerBatch(
    exchange: Exchange,
    values: readonly unknown[],
    body: Uint8Array,
    revision: LegacyHttpRevision,
  ): Promise<Reply> {
    if (revision !== BATCH_REVISION) return malformed(`Revision ${revision} has no batches`);
    if (values.length === 0 || values.length > MAX_BATCH) {
      return malformed(`A batch must have 1 to ${String(MAX_BATCH)} messages`);
    }
    const bodies = splitBatch(body, values);
    const messages = values.map(classifyMessage);
    if (bodies === undefined || messages.some(isInitialize))
      return malformed("The batch holds what a batch can't hold");
    const replies = await Promise.all(
      messages.map((message, index) => this.#answerOne(exchange, message, bodies[index] ?? body)),
    );
    const lines = replies.flatMap((reply) => (reply === "accepted" ? [] : [Buffer.from(reply.body)]));
    return lines.length === 0 ? "accepted" : { status: 200, body: Buffer.concat(joined(lines)) };
  }

  async #answerOne(exchange: Exchange, message: Message, body: Uint8Array): Promise<Reply> {
    if (message.kind === "request") return { ...(await this.#dispatch(exchange, message, body)), status: 200 };
    if (message.kind === "invalid") return malformed(`The body is no JSON-RPC message: ${message.reason}`, message.id);
    if (message.kind !== "notification") return malformed("Nothing was asked of this client that it could answer");
    this.#hear(exchange, message.method, message.params);
    return "accepted";
  }

  #hear(exchange: Exchange, method: string, params: unknown): void {
    const requestId = method === "notifications/cancelled" && isJsonObject(params) ? params["requestId"] : undefined;
    if (isRequestId(requestId)) this.#exchanges.cancel(exchange.binding, requestId);
  }

  #dispatch(exchange: Exchange, request: LegacyRequest, message: Uint8Array): Answer | Promise<Answer> {
    const { id } = request;
    const params = request.params ?? {};
    if (!isJsonObject(params)) return refusedAnswer(refuseParams(id, "params must be an object"));
    switch (request.method) {
      case "initialize":
        return this.#initialize(exchange, id, params);
      case "ping":
        return resultAnswer(id, {});
      case "tools/list":
        return listTools(this.#config, exchange, { id, params, era: "legacy" });
      case "tools/call": {
        const progressToken = progressTokenOf(params);
        const call = { id, params, message, headers: undefined, progressToken, logLevel: undefined };
        return callTool(this.#config, exchange, { ...call, era: "legacy" });
      }
      default:
        return refusedAnswer(refuseMethod(id, request.method));
    }
  }

  /**
   * Agrees on the revision that the client offers, or offers the newest. Source: 2025-11-25, Lifecycle, Version Negotiation.
   */
  #initialize(exchange: Exchange, id: RequestId, params: JsonObject): Answer {
    const offered = params["protocolVersion"];
    if (typeof offered !== "string") return refusedAnswer(refuseParams(id, "params.protocolVersion must be a string"));
    return resultAnswer(id, {
      protocolVersion: isLegacyHttpRevision(offered) ? offered : LEGACY_HTTP_REVISIONS[0],
      capabilities: { tools: { listChanged: false } },
      serverInfo: this.#config.serverInfo,
      instructions: this.#config.directory.instructions?.(exchange.binding),
    });
  }
}

function resultAnswer(id: RequestId, result: JsonObject): Answer {
  return { status: 200, body: resultLine(id, Buffer.from(JSON.stringify(result), "utf8")) };
}

function malformed(reason: string, id?: RequestId): Answer {
  return refusedAnswer(refuse(400, id, RpcCode.invalidRequest, reason));
}

function isInitialize(message: Message): boolean {
  return message.kind === "request" && message.method === "initialize";
}

/** A token of another type than the revision allows is as good as none. */
function progressTokenOf(params: JsonObject): RequestId | undefined {
  const meta = params["_meta"];
  const token = isJsonObject(meta) ? meta["progressToken"] : undefined;
  return isRequestId(token) ? token : undefined;
}

/** A JSON array of the given texts. */
function joined(lines: readonly Uint8Array[]): readonly Uint8Array[] {
  const comma = Buffer.from(",");
  return [
    Buffer.from("["),
    ...lines.flatMap((line, index) => (index === 0 ? [line] : [comma, line])),
    Buffer.from("]"),
  ];
}
