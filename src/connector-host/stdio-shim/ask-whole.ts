import { memberRange } from "../../protocol/index.js";
import type { ResponseHeaders } from "../../transport/index.js";
import type { HostLink, HostQuestion } from "./host-link.js";
import type { HostEnd } from "./host-request.js";

/** A whole answer of the host. */
export interface HostAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** The body, or the response in a stream; empty for neither. */
  readonly body: Uint8Array;
}

/** What asking the host came to. */
export type HostReply = HostAnswer | Extract<HostEnd, { readonly kind: "broken" }>;

/** Asks the host something of which only the whole answer matters. Never rejects. */
export function askWhole(link: HostLink, question: HostQuestion): Promise<HostReply> {
  return new Promise((resolve) => {
    let status = 0;
    let headers: ResponseHeaders = {};
    let body: Uint8Array = new Uint8Array();
    link.ask(question, {
      onHead: (seen, fields) => {
        status = seen;
        headers = fields;
      },
      onEvent: ({ data }) => {
        const bytes = Buffer.from(data, "utf8");
        if (isResponse(bytes)) body = bytes;
      },
      onEnd: (end) => {
        if (end.kind === "broken") resolve(end);
        else resolve({ kind: "answer", status, headers, body: end.kind === "answered" ? end.body : body });
      },
    });
  });
}

/** Whether a JSON-RPC message that is valid JSON is a response. A message that is empty is none. */
export function isResponse(message: Uint8Array): boolean {
  return message.byteLength > 0 && memberRange(message, ["method"]) === undefined;
}
