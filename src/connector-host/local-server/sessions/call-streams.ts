import type { ServerResponse } from "node:http";
import { RemoteConnectorError } from "../../../errors.js";
import type { RequestId } from "../../../protocol/index.js";
import { errorLine, SseWriter } from "../../../serving/index.js";
import { describeError } from "../describe-error.js";
import type { ResumableStream } from "../exchange.js";
import type { LocalServerConfig } from "../options.js";
import type { EventStream } from "./event-stream.js";
import type { KeptStreams } from "./kept-streams.js";

export interface CallStreamsOptions {
  readonly config: LocalServerConfig;
  readonly kept: KeptStreams;
  /** Makes the stream of a number. */
  readonly create: (number: number, onEnd: (stream: EventStream) => void) => EventStream;
  /** Told when a stream is kept from now on. */
  readonly onKept: () => void;
}

interface CallStream {
  readonly requestId: RequestId;
  readonly stream: EventStream;
}

/** Streams of requests of which something is known. Those whose events are gone cost next to nothing. */
const MAX_CALL_STREAMS = 256;
/** Longer ids would be kept with their streams. */
const LONGEST_REQUEST_ID = 256;

/** The streams of one session's requests: of those that run, and of those that ended not long ago. Numbered from 1. */
export class CallStreams {
  readonly #options: CallStreamsOptions;
  /** In the order of their beginnings. */
  readonly #calls = new Map<number, CallStream>();
  #count = 0;
  #ended = false;

  constructor(options: CallStreamsOptions) {
    this.#options = options;
  }

  /** Begins the stream of a request; `undefined` when it can't be resumed. */
  open(requestId: RequestId, response: ServerResponse): ResumableStream | undefined {
    if (this.#ended || String(requestId).length > LONGEST_REQUEST_ID) return undefined;
    this.#count += 1;
    const stream = this.#options.create(this.#count, (ended) => this.#keep(ended));
    this.#calls.set(this.#count, { requestId, stream });
    this.#makeRoom();
    stream.attach(response);
    return stream;
  }

  /**
   * Goes on with a stream after a position, or answers the request with an error when its answer is gone. Returns `false`, with
   * nothing written, for a stream or a position of which nothing is known.
   */
  resume(response: ServerResponse, number: number, position: number): boolean {
    const call = this.#calls.get(number);
    if (call === undefined || !call.stream.hasReached(position)) return false;
    if (call.stream.lacksAnswerAfter(position)) this.#tellThatItIsGone(response, call.requestId);
    else call.stream.attach(response, position);
    return true;
  }

  /** Forgets them all. Those of requests that run go on over the connections that they have. */
  end(): void {
    this.#ended = true;
    for (const { stream } of this.#calls.values()) this.#options.kept.forget(stream);
    this.#calls.clear();
  }

  #keep(stream: EventStream): void {
    if (this.#ended) return;
    const { kept, config, onKept } = this.#options;
    kept.add(stream, config.clock.now());
    onKept();
  }

  #makeRoom(): void {
    for (const [number, { stream }] of this.#calls) {
      if (this.#calls.size <= MAX_CALL_STREAMS) return;
      if (!stream.ended) continue;
      this.#options.kept.forget(stream);
      this.#calls.delete(number);
    }
  }

  #tellThatItIsGone(response: ServerResponse, requestId: RequestId): void {
    const { deliveryKey, maxBufferedBytes, maxStreamBytes } = this.#options.config;
    const { error } = describeError(answerIsGone(maxStreamBytes), { deliveryKey, era: "legacy" });
    const writer = new SseWriter(response, { maxBufferedBytes });
    writer.send(errorLine(requestId, error));
    writer.end();
  }
}

/** What became of the request is not known here: its answer may itself have been a failure. */
function answerIsGone(limit: number): RemoteConnectorError<"limit_exceeded"> {
  return new RemoteConnectorError("limit_exceeded", {
    message:
      "The answer came while nobody was connected, and is no longer kept: see resumeWindowMs, maxStreamBytes, maxKeptBytes.",
    delivery: "unknown",
    details: { option: "maxStreamBytes", limit },
  });
}
