import {
  classifyMessage,
  isJsonObject,
  isRequestId,
  type JsonObject,
  type Message,
  type RequestId,
  RpcCode,
} from "../../protocol/index.js";
import { refuse } from "../../serving/index.js";
import { legacyAskableOf } from "./askable-capabilities.js";
import type { LegacyHttpRevision } from "./classify-surface.js";
import type { Exchange } from "./exchange.js";
import type { Exchanges } from "./exchanges.js";
import { answerLegacyRequest, initializeAnswer, type LegacyRequest, readInitialize } from "./legacy-methods.js";
import { failedAnswer } from "./failed-answer.js";
import type { LocalServerConfig } from "./options.js";
import type { Binding } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Answer, Reply, RequestTarget } from "./request-target.js";
import { SESSION_HEADER, type Session, type Sessions } from "./sessions/index.js";
import { splitBatch } from "./split-batch.js";

/** A POST of an agent that speaks a legacy revision, parsed. */
export interface LegacyMessage {
  readonly value: unknown;
  readonly body: Uint8Array;
  readonly revision: LegacyHttpRevision;
  /** Whether the agent takes a stream. */
  readonly mayStream: boolean;
  /** The session that the agent named. */
  readonly session: Session | undefined;
}

/** What a session begins with. */
interface Beginning {
  readonly id: RequestId;
  readonly revision: LegacyHttpRevision;
  /** What the agent can be asked. */
  readonly askable: JsonObject | undefined;
}

type LegacyNotification = Extract<Message, { kind: "notification" }>;

/** The one legacy revision that has batches. */
const BATCH_REVISION = "2025-03-26";
const MAX_BATCH = 64;

/**
 * The surface of the revisions 2025-03-26 to 2025-11-25. No request needs another one before it: outside of sessions nothing
 * is remembered. An agent that takes streams is given a session with its `initialize`, and need not use it.
 */
export class LegacySurface {
  readonly #config: LocalServerConfig;
  readonly #exchanges: Exchanges;
  readonly #sessions: Sessions;

  constructor(config: LocalServerConfig, exchanges: Exchanges, sessions: Sessions) {
    this.#config = config;
    this.#exchanges = exchanges;
    this.#sessions = sessions;
  }

  /** Answers one POST. Never rejects for what an agent sent. */
  answer(exchange: Exchange, posted: LegacyMessage): Reply | Promise<Reply> {
    const { value, body, session } = posted;
    if (Array.isArray(value)) return this.#answerBatch(exchange, value, posted);
    const message = classifyMessage(value);
    if (message.kind === "request") {
      if (session !== undefined && this.#exchanges.isRunning(session, message.id)) return stillRuns(message.id);
      exchange.requestId = message.id;
      exchange.mayStream = posted.mayStream;
      exchange.session = session;
    }
    return this.#answerOne(exchange, message, body, session);
  }

  /** Source: 2025-03-26, Overview, Batching; Transports, Sending Messages; Lifecycle, Initialization. */
  async #answerBatch(
    exchange: Exchange,
    values: readonly unknown[],
    { body, revision, session }: LegacyMessage,
  ): Promise<Reply> {
    if (revision !== BATCH_REVISION) return malformed(`Revision ${revision} has no batches`);
    if (values.length === 0 || values.length > MAX_BATCH) {
      return malformed(`A batch must have 1 to ${String(MAX_BATCH)} messages`);
    }
    const bodies = splitBatch(body, values);
    const messages = values.map(classifyMessage);
    if (bodies === undefined || messages.some(isInitialize))
      return malformed("The batch holds what a batch can't hold");
    exchange.session = session;
    const replies = await Promise.all(
      messages.map((message, index) => this.#answerPart(exchange, message, bodies[index] ?? body, session)),
    );
    const lines = replies.flatMap((reply) => (reply === "accepted" ? [] : [Buffer.from(reply.body)]));
    if (lines.length === 0) return "accepted";
    const status = messages.some(({ kind }) => kind === "request") ? 200 : 400;
    return { status, body: Buffer.concat(joined(lines)) };
  }

  async #answerPart(
    exchange: Exchange,
    message: Message,
    body: Uint8Array,
    session: Session | undefined,
  ): Promise<Reply> {
    if (message.kind !== "request") return this.#answerOne(exchange, message, body, session);
    if (session !== undefined && this.#exchanges.isRunning(session, message.id)) return stillRuns(message.id);
    const part = exchange.addPart(message.id);
    const reply = await this.#answerOne(part, message, body, session);
    part.settle();
    return reply;
  }

  #answerOne(
    target: RequestTarget,
    message: Message,
    body: Uint8Array,
    session: Session | undefined,
  ): Reply | Promise<Reply> {
    if (message.kind === "request") return this.#answerRequest(target, { ...message, message: body }, session);
    if (message.kind === "notification") {
      this.#hear(target.binding, session, message);
      return "accepted";
    }
    const wasAsked = session?.asks?.take(message) === true;
    if (message.kind === "invalid") return malformed(`The body is no JSON-RPC message: ${message.reason}`, message.id);
    // One that comes too late is ignored, as cancellation wants it; one that nobody asked for can't be accepted.
    return wasAsked ? "accepted" : malformed("Nothing was asked of this client that it could answer");
  }

  #hear(binding: Binding, session: Session | undefined, { method, params }: LegacyNotification): void {
    const requestId = method === "notifications/cancelled" && isJsonObject(params) ? params["requestId"] : undefined;
    if (isRequestId(requestId)) this.#exchanges.cancel(binding, session, requestId);
  }

  #answerRequest(
    target: RequestTarget,
    request: LegacyRequest,
    session: Session | undefined,
  ): Answer | Promise<Answer> {
    if (request.method !== "initialize") return answerLegacyRequest(this.#config, target, request, session);
    if (session !== undefined) return malformed("This session is initialized", request.id);
    const read = readInitialize(request);
    if (read.kind === "refused") return { ...read.answer, status: 200 };
    const askable = legacyAskableOf(read.params["capabilities"], read.revision);
    return this.#begin(target, { id: request.id, revision: read.revision, askable });
  }

  /**
   * Nothing in an `initialize` says whether the agent will listen, watch a resource or ask for log messages, all of which need
   * a session. Only one that takes no streams can't: it is given none, and is not told that it could.
   */
  #begin(target: RequestTarget, { id, revision, askable }: Beginning): Answer {
    const { binding, mayStream: inSession } = target;
    let headers: Answer["headers"];
    try {
      if (inSession) headers = { [SESSION_HEADER]: this.#sessions.create(binding, revision, askable).id };
    } catch (error) {
      return { ...failedAnswer(this.#config, target, { id, era: "legacy", error }), status: 200 };
    }
    return { ...initializeAnswer(this.#config, binding, { id, revision, inSession }), headers };
  }
}

/** Ids are used once in a session. Taken for a new request, the repetition of one whose stream was lost would run it twice. */
function stillRuns(id: RequestId): Answer {
  return refusedAnswer(refuse(400, id, RpcCode.invalidRequest, "A request with this id is still running"));
}

function malformed(reason: string, id?: RequestId): Answer {
  return refusedAnswer(refuse(400, id, RpcCode.invalidRequest, reason));
}

function isInitialize(message: Message): boolean {
  return message.kind === "request" && message.method === "initialize";
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
