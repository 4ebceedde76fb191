import type { EventFeed } from "./event-feed.js";
import { type EventTemplate, type LineEnd, messageEvent } from "./event.js";
import type { Fault } from "./fault.js";
import { type AnswerId, errorMessage, type MessageTemplate, resultMessage } from "./message.js";

/** How the end of a body is told: by its length, by a last chunk, or by the end of the connection. */
export type Framing = "content-length" | "chunked" | "close";

export type AnswerBody =
  | { readonly kind: "none" }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array | string }
  | { readonly kind: "message"; readonly message: MessageTemplate }
  | { readonly kind: "events"; readonly events: readonly EventTemplate[]; readonly lineEnd: LineEnd }
  | { readonly kind: "feed"; readonly feed: EventFeed }
  /** These bytes are the whole answer, its head included. */
  | { readonly kind: "raw"; readonly bytes: Uint8Array | string };

/** One answer, as data. Change one with a spread: `{ ...answerResult({}), status: 500 }`. */
export interface Answer {
  readonly status: number;
  /** The `Content-Type`; `undefined` sends none. */
  readonly type: string | undefined;
  /** Further headers. A list is a line for each. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly framing: Framing;
  readonly body: AnswerBody;
  /** In the order given, where places are equal. */
  readonly faults: readonly Fault[];
}

/** What most answers change of their defaults. */
export type AnswerChanges = Partial<Pick<Answer, "status" | "type" | "headers" | "framing">>;

const JSON_ANSWER = {
  status: 200,
  type: "application/json",
  headers: {},
  framing: "content-length",
  faults: [],
} as const;
const STREAM_ANSWER = { ...JSON_ANSWER, type: "text/event-stream", framing: "chunked" } as const;

/** A JSON body with a result. */
export function answerResult(
  result: unknown,
  { id, ...changes }: AnswerChanges & { readonly id?: AnswerId | undefined } = {},
): Answer {
  return answerMessage(resultMessage(result, id), changes);
}

/** A JSON body with an error, at status 400 when none is given. */
export function answerError(
  code: number,
  message = "refused",
  options: AnswerChanges & { readonly id?: AnswerId | undefined; readonly data?: unknown } = {},
): Answer {
  const { id, data, ...changes } = options;
  return { ...answerMessage(errorMessage(code, message, { id, data })), status: 400, ...changes };
}

/** A JSON body with any message. */
export function answerMessage(message: MessageTemplate, changes: AnswerChanges = {}): Answer {
  return { ...JSON_ANSWER, body: { kind: "message", message }, ...changes };
}

/** A stream of events; a message stands for an event around it. Ends after the last one. */
export function answerEvents(
  events: readonly (EventTemplate | MessageTemplate)[],
  { lineEnd = "\n", ...changes }: AnswerChanges & { readonly lineEnd?: LineEnd | undefined } = {},
): Answer {
  return { ...STREAM_ANSWER, body: { kind: "events", events: events.map(toEvent), lineEnd }, ...changes };
}

/** A stream of events that come while it is open. */
export function answerFeed(feed: EventFeed, changes: AnswerChanges = {}): Answer {
  return { ...STREAM_ANSWER, body: { kind: "feed", feed }, ...changes };
}

/** Any body. `text/plain` when no type is given. */
export function answerBody(bytes: Uint8Array | string, changes: AnswerChanges = {}): Answer {
  return { ...JSON_ANSWER, type: "text/plain", body: { kind: "bytes", bytes }, ...changes };
}

/** A status without a body. */
export function answerStatus(status: number, changes: AnswerChanges = {}): Answer {
  return { ...JSON_ANSWER, type: undefined, body: { kind: "none" }, ...changes, status };
}

/** A redirect. */
export function answerRedirect(status: number, location: string): Answer {
  return answerStatus(status, { headers: { Location: location } });
}

/** These bytes, and nothing else. The connection stays open; a fault can end it. */
export function answerRaw(bytes: Uint8Array | string): Answer {
  return { ...JSON_ANSWER, body: { kind: "raw", bytes } };
}

/** No answer at all: the connection stays open and silent. */
export function answerNothing(): Answer {
  return withFaults(answerRaw(""), { kind: "stop", at: 0, how: "stall" });
}

/** The answer with more faults. */
export function withFaults(answer: Answer, ...faults: readonly (Fault | readonly Fault[])[]): Answer {
  return { ...answer, faults: [...answer.faults, ...faults.flat()] };
}

function toEvent(event: EventTemplate | MessageTemplate): EventTemplate {
  switch (event.kind) {
    case "message":
    case "data":
    case "text":
      return event;
    case "result":
    case "error":
    case "progress":
    case "value":
      return messageEvent(event);
  }
}
