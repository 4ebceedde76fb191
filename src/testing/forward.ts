import { type IncomingMessage, request as makeRequest } from "node:http";
import { type Answer, answerBody, answerFeed, answerStatus } from "./answer.js";
import { EventFeed } from "./event-feed.js";
import type { ReceivedRequest } from "./received-request.js";
import type { Handler } from "./script.js";

/** What belongs to one connection, and not to what is forwarded. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "host",
  "keep-alive",
  "transfer-encoding",
]);

/**
 * A handler that lets another server answer: it hands on the request as it is, and gives back what comes. Event streams are handed on
 * while they come, anything else as a whole; the other server is reached by http, and a stream of its own ends when it ends it. 502 where
 * it can't be reached.
 */
export function forwardTo(origin: string): Handler {
  return (request) =>
    new Promise((resolve) => {
      const { body, verb: method } = request;
      const outgoing = makeRequest(new URL(request.target, origin), {
        agent: false,
        method,
        headers: headersOf(request),
      });
      outgoing.once("response", (response) => void readAnswer(response).then(resolve));
      outgoing.once("error", () => resolve(answerStatus(502)));
      outgoing.end(body);
    });
}

function headersOf(request: ReceivedRequest): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (const [name, value] of request.headers) {
    if (!HOP_BY_HOP.has(name.toLowerCase())) (headers[name.toLowerCase()] ??= []).push(value);
  }
  return headers;
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const { statusCode: status = 502, headers } = response;
  const type = headers["content-type"];
  const kept = Object.entries(response.headersDistinct).flatMap(([name, values]) =>
    values === undefined || name === "content-type" || HOP_BY_HOP.has(name) ? [] : [[name, values] as const],
  );
  const changes = { status, type, headers: Object.fromEntries(kept) };
  if (type?.startsWith("text/event-stream") === true) return answerFeed(feedOf(response), changes);
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of response) chunks.push(Buffer.from(chunk));
  } catch {
    return answerStatus(502);
  }
  return answerBody(Buffer.concat(chunks), changes);
}

function feedOf(response: IncomingMessage): EventFeed {
  const feed = new EventFeed();
  response.setEncoding("utf8");
  response.on("data", (text: string) => feed.send({ kind: "text", text }));
  response.once("end", () => feed.end());
  response.once("error", () => feed.end("cut"));
  return feed;
}
