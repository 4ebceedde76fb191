import { type Diagnostic, parseJson, scanArray } from "../../protocol/index.js";
import type { Envelope } from "./envelope-scan.js";
import { type Line, LineFramer } from "./line-framer.js";
import { printableText } from "./printable-text.js";
import type { Redaction } from "./redaction.js";

/** Who is told of what a server writes, in its order. */
export interface MessageReaderEvents {
  /** A JSON value that may be a message, and its bytes. */
  onMessage(value: unknown, bytes: Uint8Array): void;
  /** A line that was too long to be kept. */
  onOverlong(envelope: Envelope): void;
  onDiagnostic(diagnostic: Diagnostic): void;
}

export interface MessageReaderOptions {
  readonly maxLineBytes: number;
  /** What must not appear in the snippet of a stray line. */
  readonly redaction: Redaction;
}

const SNIPPET_LENGTH = 200;

const decoder = new TextDecoder();

/**
 * Reads JSON-RPC messages out of the bytes that a server writes to its stdout.
 *
 * Text that is no JSON is skipped, as servers are known to print there; the first such line is reported, with its
 * beginning. A last line without its end is read like the others: JSON shows by itself whether it is whole. Pure: no IO.
 *
 * Source: 2025-11-25, Transports, stdio.
 */
export class MessageReader {
  readonly #framer: LineFramer;
  readonly #redaction: Redaction;
  readonly #events: MessageReaderEvents;
  #acceptsBatches = false;
  #reportedStray = false;

  constructor(options: MessageReaderOptions, events: MessageReaderEvents) {
    this.#framer = new LineFramer(options);
    this.#redaction = options.redaction;
    this.#events = events;
  }

  /** From now on a line may hold an array of messages, as one revision allows; each is read like a line of its own. */
  acceptBatches(): void {
    this.#acceptsBatches = true;
  }

  push(chunk: Uint8Array): void {
    for (const line of this.#framer.push(chunk)) this.#read(line);
  }

  end(): void {
    for (const line of this.#framer.end()) this.#read(line);
  }

  /** Something that is no message was skipped: reported once, however often it happens. */
  skipStray(message: string): void {
    if (this.#reportedStray) return;
    this.#reportedStray = true;
    this.#events.onDiagnostic({ kind: "not_a_message", message });
  }

  #read(line: Line): void {
    if (line.kind === "overlong") {
      this.#events.onOverlong(line.envelope);
      return;
    }
    const value = parseJson(line.text);
    if (typeof value !== "object" || value === null) {
      this.skipStray(`A line of the server's output is no message: ${JSON.stringify(this.#snippet(line.text))}`);
      return;
    }
    if (line.unterminated) {
      const message = "The server's last line came without its end.";
      this.#events.onDiagnostic({ kind: "unterminated_event", message });
    }
    if (!Array.isArray(value) || !this.#acceptsBatches) {
      this.#events.onMessage(value, line.bytes);
      return;
    }
    for (const { start, end } of scanArray(line.bytes) ?? []) {
      const element = line.bytes.subarray(start, end);
      this.#events.onMessage(parseJson(decoder.decode(element)), element);
    }
  }

  #snippet(text: string): string {
    // Redacted before it is cut, so that no part of a secret is left at the end.
    const beginning = text.slice(0, SNIPPET_LENGTH + this.#redaction.longestBytes);
    return printableText(this.#redaction.apply(beginning)).slice(0, SNIPPET_LENGTH);
  }
}
