import { setTimeout as pause } from "node:timers/promises";
import { isJsonObject, type JsonObject, type RequestId } from "../../src/protocol/index.js";
import {
  type Answer,
  answerFeed,
  answerResult,
  answerStatus,
  anyMessage,
  dataEvent,
  EventFeed,
  type Handler,
  messageEvent,
  type ReceivedRequest,
} from "../../src/testing/index.js";

/** One session, or one stream, of a server that asks. */
interface Conversation {
  readonly name: string;
  readonly waiting: Map<RequestId, (answer: object) => void>;
}

export interface AskingServerOptions {
  readonly revision?: string;
  /** Asked once a session was initialized: on its listening stream, or the one of HTTP+SSE. */
  readonly first?: JsonObject;
  /** Sessions beyond which `initialize` is refused with 503. */
  readonly maxSessions?: number;
}

/**
 * A legacy server whose tool `asks` sends the requests of its arguments, one after the other, takes back the one that `cancels` names, and
 * answers with what it got for the others. It tells in which session each call came, and what each session was told.
 */
export class AskingServer {
  readonly #options: AskingServerOptions;
  readonly #open = new Map<string, Conversation>();
  #sessions = 0;
  /** The params of each `initialize`. */
  readonly introduced: JsonObject[] = [];
  /** The session of each call. */
  readonly calls: string[] = [];
  /** Sessions that were ended. */
  readonly ended: string[] = [];
  /** What was answered to the first question of each session. */
  readonly firsts = new Map<string, unknown>();

  constructor(options: AskingServerOptions = {}) {
    this.#options = options;
  }

  /** Sessions that are there now. */
  get open(): readonly string[] {
    return [...this.#open.keys()];
  }

  /** Over Streamable HTTP. */
  readonly streamable: Handler = async (request) => {
    if (request.method === "initialize") {
      const { maxSessions = Infinity } = this.#options;
      if (this.#open.size >= maxSessions) return answerStatus(503);
      const { name } = this.#begin(request);
      return answerResult(this.#introduction(), { headers: { "Mcp-Session-Id": name } });
    }
    const conversation = this.#open.get(request.header("Mcp-Session-Id") ?? "");
    if (conversation === undefined) return answerStatus(404);
    if (request.verb === "DELETE") {
      this.#open.delete(conversation.name);
      this.ended.push(conversation.name);
      return answerStatus(200);
    }
    const feed = new EventFeed();
    const send = (value: object): void => feed.send(messageEvent(anyMessage({ jsonrpc: "2.0", ...value })));
    if (request.verb === "GET") {
      void this.#askFirst(conversation, send);
      return answerFeed(feed);
    }
    if (request.id === undefined) return answerStatus(202);
    if (request.method === undefined) return this.#heard(conversation, request);
    void this.#run(conversation, request, send).then(() => feed.end());
    return answerFeed(feed);
  };

  /** Over HTTP+SSE. */
  readonly sse: Handler = async (request) => {
    if (request.verb === "GET") {
      const feed = new EventFeed();
      const conversation = this.#begin(request);
      feed.send(dataEvent(`/post?session=${conversation.name}`, { event: "endpoint" }));
      this.#feeds.set(conversation.name, feed);
      return answerFeed(feed);
    }
    const name = new URL(request.target, "http://a").searchParams.get("session") ?? "";
    const [conversation, feed] = [this.#open.get(name), this.#feeds.get(name)];
    if (conversation === undefined || feed === undefined) return answerStatus(404);
    const send = (value: object): void => feed.send(messageEvent(anyMessage({ jsonrpc: "2.0", ...value })));
    if (request.method === "initialize") {
      this.introduced.push(request.params);
      send({ id: request.id, result: this.#introduction() });
    } else if (request.method === undefined) {
      return this.#heard(conversation, request);
    } else if (request.method === "notifications/initialized") {
      void this.#askFirst(conversation, send);
    } else if (request.id !== undefined) {
      void this.#run(conversation, request, send);
    }
    return answerStatus(202);
  };

  /** Breaks the stream of a session of HTTP+SSE. */
  breakStream(name: string): void {
    this.#open.delete(name);
    this.#feeds.get(name)?.end();
  }

  readonly #feeds = new Map<string, EventFeed>();

  #begin({ params }: ReceivedRequest): Conversation {
    this.#sessions += 1;
    const conversation = { name: `s-${String(this.#sessions)}`, waiting: new Map<RequestId, (a: object) => void>() };
    this.#open.set(conversation.name, conversation);
    if (params["capabilities"] !== undefined) this.introduced.push(params);
    return conversation;
  }

  #introduction(): object {
    const { revision = "2025-11-25" } = this.#options;
    return { protocolVersion: revision, capabilities: { tools: {} }, serverInfo: { name: "asking", version: "1" } };
  }

  async #askFirst(conversation: Conversation, send: (value: object) => void): Promise<void> {
    const { first } = this.#options;
    if (first !== undefined) this.firsts.set(conversation.name, await this.#ask(conversation, "first", first, send));
  }

  #heard({ waiting }: Conversation, { id, message }: ReceivedRequest): Answer {
    const { result, error }: JsonObject = isJsonObject(message) ? message : {};
    if (id !== undefined) waiting.get(id)?.(result === undefined ? { error } : { result });
    return answerStatus(202);
  }

  #ask({ waiting }: Conversation, id: string, ask: object, send: (value: object) => void): Promise<object> {
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      send({ id, ...ask });
    });
  }

  async #run(conversation: Conversation, request: ReceivedRequest, send: (value: object) => void): Promise<void> {
    const { id, method, params } = request;
    if (method !== "tools/call") {
      const tools = [{ name: "asks", inputSchema: { type: "object" } }];
      send({ id, result: method === "tools/list" ? { tools } : {} });
      return;
    }
    this.calls.push(conversation.name);
    const { asks, cancels }: JsonObject = isJsonObject(params["arguments"]) ? params["arguments"] : {};
    const answers: object[] = [];
    for (const [index, ask] of (Array.isArray(asks) ? asks : []).entries()) {
      const askId = `${String(id)}-${String(index)}`;
      if (cancels !== index) {
        answers.push(await this.#ask(conversation, askId, ask, send));
        continue;
      }
      send({ id: askId, ...ask });
      await pause(30);
      send({ method: "notifications/cancelled", params: { requestId: askId } });
    }
    send({ id, result: { content: [], structuredContent: { answers, session: conversation.name } } });
  }
}
