import { LEGACY_REVISIONS, type LegacyRevision, RpcCode } from "../protocol/index.js";
import { answerError, answerFeed, answerStatus } from "./answer.js";
import { EventFeed } from "./event-feed.js";
import { dataEvent, messageEvent } from "./event.js";
import { anyMessage, encodeMessage } from "./message.js";
import type { ReceivedRequest } from "./received-request.js";
import type { Handler } from "./script.js";
import { answerMethod, type EraRules, SERVER_INFO, type ToolServerOptions } from "./tool-table.js";

export interface LegacyServerOptions extends ToolServerOptions {
  /** The only revision that it speaks. The newest of the era when left out. */
  readonly revision?: LegacyRevision | undefined;
  /** The session that `initialize` gives, and that all other requests must name. None when left out. */
  readonly sessionId?: string | undefined;
}

export interface SseServerOptions extends ToolServerOptions {
  /** The only revision that it speaks. The one that has this transport when left out. */
  readonly revision?: LegacyRevision | undefined;
  /** Where messages are posted, as its `endpoint` event says it; `{n}` is the stream's number. */
  readonly endpoint?: string | undefined;
}

/**
 * A handler that answers like a server of an older revision over Streamable HTTP: initialize, notifications, lists, calls,
 * the end of a session; no stream of its own. Source: 2025-11-25, Transports, Streamable HTTP.
 */
export function likeLegacyServer(options: LegacyServerOptions = {}): Handler {
  const { sessionId, revision = LEGACY_REVISIONS.at(-1) ?? "2025-11-25" } = options;
  const rules = eraRules(options, revision);
  return async (request) => {
    if (request.method !== "initialize" && sessionId !== undefined) {
      const given = request.header("Mcp-Session-Id");
      if (given === undefined) return answerError(RpcCode.invalidRequest, "no session");
      if (given !== sessionId) return answerError(RpcCode.invalidRequest, "no such session", { status: 404 });
    }
    if (request.verb === "DELETE") return answerStatus(sessionId === undefined ? 405 : 200);
    if (request.verb !== "POST") return answerStatus(405);
    if (request.id === undefined) return answerStatus(202);
    const answer = await answerMethod(options, rules, request);
    if (request.method !== "initialize" || sessionId === undefined) return answer;
    return { ...answer, headers: { ...answer.headers, "Mcp-Session-Id": sessionId } };
  };
}

/**
 * A handler that answers like a server of the transport before Streamable HTTP: a stream by GET, whose first event names
 * the place to post to; what is posted there is answered on the stream. Source: 2024-11-05, Transports, HTTP with SSE.
 */
export function likeSseServer(options: SseServerOptions = {}): Handler {
  const { revision = "2024-11-05", endpoint = "/messages?stream={n}" } = options;
  const streams: EventFeed[] = [];
  const rules = eraRules(options, revision);
  return async (request) => {
    if (request.verb === "GET") {
      const feed = new EventFeed();
      feed.send(dataEvent(endpoint.replace("{n}", String(streams.length)), { event: "endpoint" }));
      streams.push(feed);
      return answerFeed(feed);
    }
    if (request.verb !== "POST") return answerStatus(405);
    const feed = streamOf(request, streams);
    if (feed === undefined) return answerStatus(404);
    if (request.id === undefined) return answerStatus(202);
    const { body } = await answerMethod(options, rules, request);
    // The stream's own request has no id: the message is made for the one that was posted.
    if (body.kind === "message") feed.send(messageEvent(anyMessage(JSON.parse(encodeMessage(body.message, request)))));
    return answerStatus(202);
  };
}

function eraRules(options: ToolServerOptions, revision: LegacyRevision): EraRules {
  const introduction = {
    protocolVersion: revision,
    capabilities: options.capabilities ?? { tools: {} },
    serverInfo: SERVER_INFO,
  };
  return {
    methods: { initialize: () => introduction, ping: () => ({}) },
    members: {},
    unknownMethodStatus: 200,
  };
}

function streamOf(request: ReceivedRequest, streams: readonly EventFeed[]): EventFeed | undefined {
  const number = new URL(request.target, "http://localhost").searchParams.get("stream");
  return number === null ? streams.at(-1) : streams[Number(number)];
}
