import type { Answer, Diagnostic, PeerErrorContext } from "../../protocol/index.js";
import type { ReceivedAnswer } from "../connection.js";

/** A message that held an answer: the bytes of a body, or the data of an event. */
export interface AnswerMessage {
  readonly answer: Answer;
  readonly message: Uint8Array | string;
  /** What HTTP said beside it. */
  readonly context: PeerErrorContext | undefined;
}

/** An answer over HTTP. Its bytes are made only when they are asked for. */
export class HttpReceivedAnswer implements ReceivedAnswer {
  readonly answer: Answer;
  readonly context: PeerErrorContext | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly note: (diagnostic: Diagnostic) => void;
  readonly #message: Uint8Array | string;

  constructor(
    { answer, message, context }: AnswerMessage,
    diagnostics: readonly Diagnostic[],
    note: (diagnostic: Diagnostic) => void,
  ) {
    this.answer = answer;
    this.context = context;
    this.diagnostics = diagnostics;
    this.note = note;
    this.#message = message;
  }

  get line(): Uint8Array {
    return typeof this.#message === "string" ? Buffer.from(this.#message) : this.#message;
  }
}
