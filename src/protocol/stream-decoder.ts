import { createParser, type EventSourceMessage, type EventSourceParser } from "eventsource-parser";
import { RemoteConnectorError } from "../errors.js";
import { TextStream } from "./text-stream.js";

/** The longest that stands before the data on its line; what the parser holds of a line includes it. */
const DATA_FIELD = "data: ";

/** An event of a stream, by what matters of it to MCP. */
export interface StreamEvent {
  /** Empty only when there is an id: such an event moves the place to resume from, and says nothing else. */
  readonly data: string;
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** The stream ended without the blank line that ends an event; any of its members may be cut. */
  readonly unterminated: boolean;
}

export interface StreamDecoderOptions {
  /** The longest event, in UTF-16 code units, which are never more than its bytes. */
  readonly maxEventBytes: number;
  /** Must not throw: the decoder can't be used afterwards. */
  readonly onEvent: (event: StreamEvent) => void;
  /** The server's wish for the pause before a reconnect, in milliseconds. */
  readonly onRetry?: ((retryMs: number) => void) | undefined;
}

/**
 * Decodes the bytes of a `text/event-stream`, as they arrive, into events.
 *
 * UTF-8 whatever the charset says; LF, CRLF, lone CR and mixtures, at any boundary of chunks; a leading byte order mark is
 * skipped. Comments, and events with neither data nor an id, are no events. Memory is bounded by the longest event allowed.
 * Source: WHATWG HTML, Server-sent events; 2026-07-28, Streamable HTTP, Receiving Messages.
 */
export class StreamDecoder {
  readonly #text = new TextStream();
  readonly #parser: EventSourceParser;
  readonly #maxEventBytes: number;
  readonly #onEvent: (event: StreamEvent) => void;
  /** The last character fed was a CR, so that an LF right after it belongs to the same line end. */
  #endedWithReturn = false;
  #ending = false;
  #tooLong = false;

  constructor(options: StreamDecoderOptions) {
    this.#maxEventBytes = options.maxEventBytes;
    this.#onEvent = options.onEvent;
    this.#parser = createParser({
      onEvent: this.#deliver,
      onRetry: options.onRetry,
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") this.#tooLong = true;
      },
      maxBufferSize: options.maxEventBytes + DATA_FIELD.length,
    });
    // The parser takes the three characters of a misread byte order mark off its first input, though they are text here.
    this.#parser.feed("");
  }

  /**
   * Takes the next bytes; events are delivered before it returns.
   *
   * Throws `limit_exceeded` (delivery `unknown`) when an event is too long, and ever after.
   */
  push(bytes: Uint8Array): void {
    this.#feed(this.#text.decode(bytes));
  }

  /** Ends the stream. An event without its blank line is delivered as `unterminated`. Throws as {@link push} does. */
  end(): void {
    const rest = this.#text.end();
    this.#ending = true;
    this.#feed(`${rest}\n\n`);
  }

  #feed(text: string): void {
    if (this.#tooLong) this.#refuse();
    const normal = this.#withPlainLineEnds(text);
    if (normal !== "") this.#parser.feed(normal);
    if (this.#tooLong) this.#refuse();
  }

  /** The parser holds a lone CR at the end of a chunk back, which would delay a CR-only server's last event forever. */
  #withPlainLineEnds(text: string): string {
    const rest = this.#endedWithReturn && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#endedWithReturn = text.endsWith("\r");
    return rest.includes("\r") ? rest.replace(/\r\n?/g, "\n") : rest;
  }

  readonly #deliver = ({ data, id, event }: EventSourceMessage): void => {
    if (data.length > this.#maxEventBytes) this.#refuse();
    if (data !== "" || id !== undefined) this.#onEvent({ data, id, event, unterminated: this.#ending });
  };

  #refuse(): never {
    this.#tooLong = true;
    throw new RemoteConnectorError("limit_exceeded", {
      message: "An event of the stream is too long; maxEventBytes raises the limit.",
      delivery: "unknown",
      details: { option: "maxEventBytes", limit: this.#maxEventBytes },
    });
  }
}
