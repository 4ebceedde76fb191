import type { Clock } from "../../transport/index.js";
import type { HostLink } from "./host-link.js";
import type { HostRequest } from "./host-request.js";
import type { LegacySession } from "./legacy-session.js";

export interface ListeningStreamOptions {
  readonly link: HostLink;
  readonly clock: Clock;
  readonly session: LegacySession;
  /** Told of each message of the host that belongs to no request. */
  readonly onMessage: (message: string) => void;
}

/** Answers that say that there is no such stream here. */
const WITHOUT_STREAM: ReadonlySet<number> = new Set([403, 405, 406, 501]);

/** Pauses between fruitless attempts, in milliseconds: a host that is gone is looked for as long as the agent is there. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * The stream of a session on which the host says what belongs to no request. It is opened again when it ends, from where it was.
 * Source: 2025-11-25, Transports, Listening for Messages from the Server; Resumability and Redelivery.
 */
export class ListeningStream {
  readonly #options: ListeningStreamOptions;
  #request: HostRequest | undefined;
  /** The last event that was read, and whose it was. */
  #place: { readonly sessionId: string; readonly eventId: string } | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #cancelPause: (() => void) | undefined;
  #isClosed = false;

  constructor(options: ListeningStreamOptions) {
    this.#options = options;
    this.#open();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPause?.();
    this.#request?.abort();
  }

  #open(): void {
    const { link, session, onMessage } = this.#options;
    const { id: sessionId } = session;
    if (this.#isClosed || sessionId === undefined) return;
    const place = this.#place?.sessionId === sessionId ? ["Last-Event-ID", this.#place.eventId] : [];
    let status = 0;
    this.#request = link.ask(
      { method: "GET", body: null, headers: [...session.headers, ...place] },
      {
        onHead: (seen) => {
          status = seen;
          if (seen === 200) this.#pauseMs = FIRST_PAUSE_MS;
        },
        onEvent: ({ data, id, unterminated }) => {
          if (unterminated) return;
          if (id !== undefined) this.#place = { sessionId, eventId: id };
          if (data !== "") onMessage(data);
        },
        onEnd: ({ kind }) => {
          // Whatever it was that the host does not know: it is not asked for again.
          if (kind === "answered") this.#place = undefined;
          if (kind === "answered" && status === 404) void session.renew(sessionId).then(() => this.#reopen());
          else if (kind !== "answered" || !WITHOUT_STREAM.has(status)) this.#reopen();
        },
      },
    );
  }

  #reopen(): void {
    if (this.#isClosed) return;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    this.#cancelPause = this.#options.clock.schedule(pauseMs, () => this.#open());
  }
}
