import { classifyMessage, type Diagnostic, type Message, plainText, type StreamEvent } from "../protocol/index.js";
import { matchId, parseJson } from "./classify-answer.js";
import type { ResponseCache } from "./response-cache.js";
import type { NotificationRelay } from "./notification-relay.js";

/** Tells the response on a stream from what comes before it, and hands the notifications on. One for each attempt. */
export class AnswerStream {
  readonly #id: number;
  readonly #relay: NotificationRelay | undefined;
  readonly #cache: ResponseCache | undefined;
  readonly #note: (diagnostic: Diagnostic) => void;
  #sawJunk = false;

  constructor(
    id: number,
    relay: NotificationRelay | undefined,
    cache: ResponseCache | undefined,
    note: (diagnostic: Diagnostic) => void,
  ) {
    this.#id = id;
    this.#relay = relay;
    this.#cache = cache;
    this.#note = note;
  }

  /** What the event says to the call: the message that ends it, a broken one with its id included; `undefined` to go on. */
  read({ data, unterminated }: StreamEvent): Message | undefined {
    if (data === "") return undefined;
    const message = classifyMessage(parseJson(data));
    if (unterminated && message.kind !== "invalid") {
      this.#note({ kind: "unterminated_event", message: "The last event of the stream came without its blank line." });
    }
    switch (message.kind) {
      case "notification":
        this.#cache?.heed(message.method, message.params);
        this.#relay?.notify(message.method, message.params, this.#id);
        return undefined;
      case "request":
        this.#note({
          kind: "server_request",
          message: "The server sent a request, which this revision does not allow.",
          subject: plainText(message.method, 128),
        });
        return undefined;
      case "invalid":
        if (message.id !== undefined && matchId(message.id, this.#id) === "same") return message;
        this.#skipJunk(message.reason, unterminated);
        return undefined;
      case "result":
      case "error":
        if (matchId(message.id, this.#id) !== "other") return message;
        this.#note({
          kind: "unmatched_response",
          message: "A response on the stream belongs to no request of ours.",
        });
        return undefined;
    }
  }

  /** Cut data is not worth a word: the failure that follows says more. */
  #skipJunk(reason: string, unterminated: boolean): void {
    if (this.#sawJunk || unterminated) return;
    this.#sawJunk = true;
    this.#note({ kind: "not_a_message", message: `Data on the stream is no JSON-RPC message: ${reason}.` });
  }
}
