import type { ServerResponse } from "node:http";
import type { JsonRpcError, RequestId } from "../protocol/index.js";
import { errorLine, type ExtraHeaders, resultLine, sendJson, SseWriter } from "../serving/index.js";
import type { Clock } from "../transport/index.js";

export interface CallAnswerOptions {
  readonly clock: Clock;
  readonly keepAliveMs: number;
  readonly maxBufferedBytes: number;
}

/**
 * The answer to one request, as plain JSON for as long as there is nothing to send but the end.
 *
 * It becomes a stream with the first notification, or after `keepAliveMs` of silence, from when on comments show the
 * caller that the work goes on. Until then a failure still has its own HTTP status. `signal` aborts when the caller
 * leaves before the end, which in this revision cancels the request.
 */
export class CallAnswer {
  readonly #response: ServerResponse;
  readonly #id: RequestId;
  readonly #options: CallAnswerOptions;
  readonly #left = new AbortController();
  #stream: SseWriter | undefined;
  #cancelKeepAlive: () => void;

  constructor(response: ServerResponse, id: RequestId, options: CallAnswerOptions) {
    this.#response = response;
    this.#id = id;
    this.#options = options;
    this.#cancelKeepAlive = this.#scheduleKeepAlive();
    response.once("close", this.#onClose);
    if (response.destroyed) this.#onClose();
  }

  get signal(): AbortSignal {
    return this.#left.signal;
  }

  /** Sends a notification on the way. When the caller reads too slowly it is dropped, or, if it may not be, the caller is cut. */
  notify(line: string, { droppable = true }: { readonly droppable?: boolean } = {}): void {
    this.#open().send(line, { droppable });
  }

  /** Ends with a result, given as its exact bytes. */
  succeed(rawResult: Uint8Array): void {
    this.#end(200, resultLine(this.#id, rawResult), {});
  }

  /** Ends with an error. The status and the headers count only while no stream was begun. */
  fail(status: number, error: JsonRpcError, headers: ExtraHeaders = {}): void {
    this.#end(status, errorLine(this.#id, error), headers);
  }

  readonly #onClose = (): void => {
    this.#cancelKeepAlive();
    if (!this.#response.writableFinished) this.#left.abort(new Error("The caller left."));
  };

  #end(status: number, line: Uint8Array | string, headers: ExtraHeaders): void {
    if (this.#stream === undefined) {
      sendJson(this.#response, status, line, headers);
      return;
    }
    this.#stream.send(line);
    this.#stream.end();
  }

  #open(): SseWriter {
    this.#stream ??= new SseWriter(this.#response, { maxBufferedBytes: this.#options.maxBufferedBytes });
    return this.#stream;
  }

  #scheduleKeepAlive(): () => void {
    const { clock, keepAliveMs } = this.#options;
    return clock.schedule(keepAliveMs, () => {
      this.#open().keepAlive();
      this.#cancelKeepAlive = this.#scheduleKeepAlive();
    });
  }
}
