import { type AnsweredRequest, encodeMessage, type MessageTemplate } from "./message.js";

/** How a stream ends its lines. */
export type LineEnd = "\n" | "\r\n" | "\r";

/** A piece of an event stream. */
export type EventTemplate =
  /** An event around a JSON-RPC message. */
  | ({ readonly kind: "message"; readonly message: MessageTemplate } & EventFields)
  /** An event around any text; a text of several lines gets a `data` field for each. */
  | ({ readonly kind: "data"; readonly data: string } & EventFields)
  /** Text that is sent as it is, with the line ends that it has. */
  | { readonly kind: "text"; readonly text: string };

/** The other fields of an event, each left out unless it is given. */
export interface EventFields {
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  /** In milliseconds. */
  readonly retry?: number | undefined;
}

/** An event whose data is a JSON-RPC message. */
export function messageEvent(message: MessageTemplate, fields: EventFields = {}): EventTemplate {
  return { kind: "message", message, ...fields };
}

/** An event with any data. */
export function dataEvent(data: string, fields: EventFields = {}): EventTemplate {
  return { kind: "data", data, ...fields };
}

/** A comment, which readers ignore. */
export function commentEvent(comment = ""): EventTemplate {
  return { kind: "text", text: `:${comment}\n\n` };
}

/** Text that is sent as it is: broken events, mixed line ends, an event without its blank line. */
export function streamText(text: string): EventTemplate {
  return { kind: "text", text };
}

/** The text of one piece of a stream. */
export function encodeEventTemplate(event: EventTemplate, request: AnsweredRequest, lineEnd: LineEnd): string {
  if (event.kind === "text") return event.text;
  const data = event.kind === "message" ? encodeMessage(event.message, request) : event.data;
  const lines = [
    ...(event.event === undefined ? [] : [`event: ${event.event}`]),
    ...(event.id === undefined ? [] : [`id: ${event.id}`]),
    ...(event.retry === undefined ? [] : [`retry: ${String(event.retry)}`]),
    ...data.split("\n").map((line) => `data: ${line}`),
  ];
  return [...lines, "", ""].join(lineEnd);
}
