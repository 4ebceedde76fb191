import { type Clock, createUndiciExchange, type Exchange, type ResponseHeaders } from "../../transport/index.js";
import { AGENT_PATH, BINDING_HEADER } from "../agent-socket/index.js";
import { HostRequest, type HostRequestSink } from "./host-request.js";

/** Names what is spoken to; the socket says where. */
const ORIGIN = "http://localhost";

export interface HostLinkOptions {
  readonly socketPath: string;
  readonly binding: string;
  /** Requests that are under way at a time. */
  readonly maxRequests: number;
  readonly maxMessageBytes: number;
  /** How long a request waits for a place in the queue of a host that takes no more connections just now. */
  readonly patienceMs: number;
  readonly clock: Clock;
}

/** How often such a host is asked again. */
const BUSY_PAUSE_MS = 50;

/** What is asked of the host. */
export interface HostQuestion {
  readonly method: "POST" | "GET" | "DELETE";
  /** A JSON text; `null` for none. */
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** Names and values, beside those that every request has. */
  readonly headers: readonly string[];
}

/** The way to the host: HTTP over its agent socket. Connections are made when they are needed, and again after the host ended. */
export class HostLink {
  readonly #options: HostLinkOptions;
  readonly #exchange: Exchange;
  readonly #always: readonly string[];
  readonly #running = new Set<HostRequest>();
  #isPaused = false;
  #isClosed = false;

  /** `maxRequests` counts those of the agent; a few more are asked for the session's own sake. */
  constructor(options: HostLinkOptions) {
    const { socketPath, binding, maxRequests } = options;
    this.#options = options;
    this.#exchange = createUndiciExchange({ origin: ORIGIN, socketPath, maxConnections: maxRequests + SPARE });
    const media = ["Content-Type", "application/json", "Accept", "application/json, text/event-stream"];
    this.#always = [BINDING_HEADER, binding, ...media];
  }

  /** Asks something. The sink is told of the answer, and of exactly one end, unless the request is aborted. */
  ask({ method, body, headers }: HostQuestion, sink: HostRequestSink): HostRequest {
    const { clock, maxMessageBytes, patienceMs } = this.#options;
    const endsAt = clock.now() + patienceMs;
    const dispatch = (): void => {
      if (this.#isClosed || request.isOver) return;
      this.#exchange.dispatch({ method, path: AGENT_PATH, headers: [...this.#always, ...headers], body }, request);
    };
    const request = new HostRequest(
      {
        maxMessageBytes,
        isPaused: () => this.#isPaused,
        onBusy: () => {
          if (clock.now() >= endsAt) return false;
          clock.schedule(BUSY_PAUSE_MS, dispatch);
          return true;
        },
        onDone: () => this.#running.delete(request),
      },
      sink,
    );
    this.#running.add(request);
    dispatch();
    return request;
  }

  /** Reads no more of the answers, until `resume`. */
  pause(): void {
    this.#isPaused = true;
    for (const request of this.#running) request.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const request of this.#running) request.resume();
  }

  /** Ends everything. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#exchange.destroy();
  }
}

/** The listening stream of a session, its renewal, notifications and answers of the agent. */
const SPARE = 8;

/** A header of an answer, whose name is given in lower case; several are joined. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}
