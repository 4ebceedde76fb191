import { RemoteConnectorError } from "../errors.js";
import { StreamDecoder, type StreamEvent } from "../protocol/index.js";
import { type AnswerHead, isSuccess } from "./answer-head.js";
import type { TransportConfig } from "./transport-options.js";

type ReaderLimits = Pick<TransportConfig, "maxBodyBytes" | "maxErrorBodyBytes" | "maxEventBytes" | "maxStreamBytes">;

/** Reads what follows an answer's head, within its limits. */
export type AnswerReader = BodyReader | StreamReader;

/** Collects a body that is no stream. A failed answer's body is cut at its limit, since its beginning says enough. */
export class BodyReader {
  readonly kind = "body";
  readonly #limits: ReaderLimits;
  readonly #succeeds: boolean;
  readonly #expected: number;
  /** What came, and room for more. A body in one piece, as most are, is that piece. */
  #buffer: Uint8Array = NOTHING;
  #bytes = 0;

  /** Throws `limit_exceeded` when the head says that the body is too large. */
  constructor(head: AnswerHead, limits: ReaderLimits) {
    const { maxBodyBytes, maxErrorBodyBytes } = limits;
    this.#limits = limits;
    this.#succeeds = isSuccess(head.status);
    const length = Number(head.headers["content-length"]);
    if (this.#succeeds && length > maxBodyBytes) throw tooMuch("maxBodyBytes", maxBodyBytes);
    const most = this.#succeeds ? maxBodyBytes : maxErrorBodyBytes;
    this.#expected = length > 0 ? Math.min(length, most) : 0;
  }

  /** Takes the next bytes. Whether no more are wanted. Throws `limit_exceeded`. */
  push(chunk: Uint8Array): boolean {
    const { maxBodyBytes, maxErrorBodyBytes } = this.#limits;
    const total = this.#bytes + chunk.length;
    if (this.#succeeds) {
      if (total > maxBodyBytes) throw tooMuch("maxBodyBytes", maxBodyBytes);
      this.#add(chunk);
      return false;
    }
    const over = Math.max(0, total - maxErrorBodyBytes);
    this.#add(chunk.subarray(0, chunk.length - over));
    return over > 0;
  }

  /** Everything that came, or that was kept of it. */
  body(): Uint8Array {
    return this.#buffer.subarray(0, this.#bytes);
  }

  /** Copies into one growing buffer: a list of chunks costs a hundred times the body when they are a byte each. */
  #add(chunk: Uint8Array): void {
    const total = this.#bytes + chunk.length;
    if (this.#bytes === 0) {
      this.#buffer = chunk;
    } else {
      if (total > this.#buffer.length || this.#bytes === this.#buffer.length) this.#grow(total);
      this.#buffer.set(chunk, this.#bytes);
    }
    this.#bytes = total;
  }

  /** By doubling, and at once to what the head says, as far as a head can be trusted that costs its sender nothing. */
  #grow(needed: number): void {
    const doubled = Math.max(needed, this.#buffer.length * 2);
    const trusted = Math.min(this.#expected, Math.max(doubled, TRUSTED_LENGTH_BYTES));
    const grown = Buffer.allocUnsafe(this.#expected < needed ? doubled : trusted);
    grown.set(this.#buffer.subarray(0, this.#bytes));
    this.#buffer = grown;
  }
}

const NOTHING = new Uint8Array();

/** Up to this, room is made for a body before it comes. */
const TRUSTED_LENGTH_BYTES = 2 * 1024 * 1024;

/** Decodes an event stream as it comes. */
export class StreamReader {
  readonly kind = "stream";
  readonly #maxStreamBytes: number;
  readonly #decoder: StreamDecoder;
  #bytes = 0;

  constructor(limits: ReaderLimits, onEvent: (event: StreamEvent) => void, onRetry?: (retryMs: number) => void) {
    this.#maxStreamBytes = limits.maxStreamBytes;
    this.#decoder = new StreamDecoder({ maxEventBytes: limits.maxEventBytes, onEvent, onRetry });
  }

  /** Takes the next bytes; their events are delivered before it returns. Throws `limit_exceeded`. */
  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxStreamBytes) throw tooMuch("maxStreamBytes", this.#maxStreamBytes);
    this.#decoder.push(chunk);
  }

  /** The stream is over, in whatever way: a last event whose blank line is missing may still be whole. */
  end(): void {
    this.#decoder.end();
  }
}

function tooMuch(option: "maxBodyBytes" | "maxStreamBytes", limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message: `The answer is too large; ${option} raises the limit.`,
    delivery: "unknown",
    details: { option, limit },
  });
}
