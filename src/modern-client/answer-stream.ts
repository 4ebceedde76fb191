import { classifyMessage, type Message, parseJson, plainText, type StreamEvent } from "../protocol/index.js";
import type { ChannelPorts, RequestOwner } from "./channel.js";
import { matchId } from "./classify-answer.js";

/** Tells the response on a stream from what comes before it, and hands the notifications on. One for each attempt. */
export class AnswerStream {
  readonly #id: number;
  readonly #owner: RequestOwner;
  readonly #ports: ChannelPorts;
  #sawJunk = false;

  constructor(id: number, owner: RequestOwner, ports: ChannelPorts) {
    this.#id = id;
    this.#owner = owner;
    this.#ports = ports;
  }

  /** What the event says to the call: the message that ends it, a broken one with its id included; `undefined` to go on. */
  read({ data, unterminated }: StreamEvent): Message | undefined {
    if (data === "") return undefined;
    const message = classifyMessage(parseJson(data));
    if (unterminated && message.kind !== "invalid") {
      this.#owner.note({
        kind: "unterminated_event",
        message: "The last event of the stream came without its blank line.",
      });
    }
    switch (message.kind) {
      case "notification":
        this.#ports.heed(message.method, message.params);
        this.#owner.onNotification(message.method, message.params, data.length);
        return undefined;
      case "request":
        this.#owner.note({
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
        this.#owner.note({
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
    this.#owner.note({ kind: "not_a_message", message: `Data on the stream is no JSON-RPC message: ${reason}.` });
  }
}
