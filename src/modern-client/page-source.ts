import { deliveryOf, isRemoteConnectorError } from "../errors.js";
import type { JsonObject, RawListPage } from "../protocol/index.js";
import type { Settlement } from "../transport/index.js";
import { type CallOptions, checkCallOptions } from "./call-options.js";
import type { CallWatch } from "./call-watch.js";
import { prepareRequest } from "./request-message.js";
import { NO_HEADERS, type RequestStarter } from "./request-starter.js";

/** Gets the pages of one walk through a list; the total deadline is that of the whole walk. */
export class PageSource {
  readonly #starter: RequestStarter;
  readonly #method: string;
  readonly #entriesOf: (result: JsonObject) => readonly unknown[];
  #options: CallOptions;
  #watch: CallWatch | undefined;
  #last: Promise<unknown> | undefined;

  constructor(
    starter: RequestStarter,
    method: string,
    entriesOf: (result: JsonObject) => readonly unknown[],
    options: CallOptions,
  ) {
    this.#starter = starter;
    this.#method = method;
    this.#entriesOf = entriesOf;
    // The walk is one call; its pages are not the caller's.
    this.#options = { ...options, onSettled: undefined };
  }

  /** The caller's own reason to end the walk, and how far its last page got. */
  get signal(): AbortSignal | undefined {
    return this.#options.signal;
  }

  get lastPage(): Promise<unknown> | undefined {
    return this.#last;
  }

  /** The next page is a call of its own: what the caller does between two pages is not the walk's time. */
  beginAnew(): void {
    this.#watch = undefined;
  }

  async fetch(cursor: string | undefined): Promise<RawListPage> {
    const options = this.#options;
    checkCallOptions(options);
    const isRestart = cursor === undefined && this.#last !== undefined;
    if (isRestart) this.#options = { ...options, cache: "refresh" };
    const deadlines = this.#starter.lifecycleDeadlines(options);
    this.#watch ??= this.#starter.watch(deadlines, options.signal);
    const page = this.#starter.start({
      request: prepareRequest(this.#method, cursor === undefined ? {} : { cursor }, options.meta),
      options: this.#options,
      deadlines,
      watch: this.#watch,
      mirrored: NO_HEADERS,
      shape: ({ result, message }) => ({
        entries: this.#entriesOf(result),
        nextCursor: result["nextCursor"],
        ttlMs: result["ttlMs"],
        message: typeof message === "string" ? Buffer.from(message) : message,
      }),
    });
    this.#last = page;
    return page;
  }
}

/** The verdict on a caller's own reason is that of the last page. */
export function settleFailedWalk(
  settlement: Pick<Settlement<unknown>, "fail" | "abort">,
  reason: unknown,
  { signal, lastPage }: PageSource,
): void {
  if (isRemoteConnectorError(reason) && reason !== signal?.reason) settlement.fail(reason);
  else settlement.abort(reason, deliveryOf(lastPage) ?? "not_sent");
}
