import type { Answer } from "../../protocol/index.js";
import { internalFault } from "../../transport/index.js";
import type { ChannelMessage, ChannelRequest, NoticeOwner, RequestOwner } from "../channel.js";
import { classifyMatched } from "../classify-answer.js";
import { type MessageHost, StdioMessage } from "./stdio-message.js";

/** One request, and its answer among all the lines of the server. */
export class StdioRequest extends StdioMessage {
  readonly id: number;
  /** A subscription. */
  readonly isLong: boolean;
  readonly #method: string;
  readonly #owner: RequestOwner;

  constructor(request: ChannelRequest, owner: RequestOwner, host: MessageHost) {
    super(request, owner, host, !request.isLong);
    this.id = request.id;
    this.isLong = request.isLong;
    this.#method = request.method;
    this.#owner = owner;
  }

  onAnswer(answer: Answer, line: Uint8Array, idAsString: boolean): void {
    if (!this.end(false)) return;
    this.received += 1;
    try {
      this.#owner.onVerdict(classifyMatched(answer, this.#method, idAsString), line);
    } catch (error) {
      this.#owner.onFailure(internalFault(error, this.evidence()), false);
    }
  }

  onNotification(method: string, params: unknown, size: number): void {
    if (!this.isSent) return;
    this.received += 1;
    try {
      this.#owner.onNotification(method, params, size);
    } catch (error) {
      this.failWith(error);
    }
  }
}

/** One notification of ours. It is taken when its whole line is in the pipe: nobody says more. */
export class StdioNotice extends StdioMessage {
  readonly #owner: NoticeOwner;

  constructor(notice: ChannelMessage, owner: NoticeOwner, host: MessageHost) {
    super(notice, owner, host, true);
    this.#owner = owner;
  }

  written(): void {
    if (this.end(false)) this.#owner.onTaken();
  }
}
