import { deliveryOf, isRemoteConnectorError } from "../errors.js";
import type { JsonObject, RawListPage } from "../protocol/index.js";
import type { Settlement } from "../transport/index.js";
import { type CallOptions, checkCallOptions } from "./call-options.js";
import { prepareRequest } from "./request-message.js";
import { NO_HEADERS, type RequestStarter } from "./request-starter.js";

/** Gets the pages of one walk through a list; the total deadline is that of the whole walk. */
export class PageSource {
  readonly #starter: RequestStarter;
  readonly #method: string;
  readonly #entriesOf: (result: JsonObject) => readonly unknown[];
  readonly #options: CallOptions;
  readonly #startedAt: number;
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
    this.#startedAt = starter.config.transport.clock.now();
  }

  /** The caller's own reason to end the walk, and how far its last page got. */
  get signal(): AbortSignal | undefined {
    return this.#options.signal;
  }

  get lastPage(): Promise<unknown> | undefined {
    return this.#last;
  }

  async fetch(cursor: string | undefined): Promise<RawListPage> {
    const options = this.#options;
    checkCallOptions(options);
    const { clock } = this.#starter.config.transport;
    const deadlines = this.#starter.lifecycleDeadlines(options);
    const totalTimeoutMs = Math.max(1, deadlines.totalTimeoutMs - (clock.now() - this.#startedAt));
    const page = this.#starter.start({
      request: prepareRequest(this.#method, cursor === undefined ? {} : { cursor }, options.meta),
      options,
      deadlines: { ...deadlines, totalTimeoutMs },
      mirrored: NO_HEADERS,
      shape: ({ result, message }) => ({
        entries: this.#entriesOf(result),
        nextCursor: result["nextCursor"],
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
