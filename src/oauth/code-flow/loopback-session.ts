import type { IncomingMessage, ServerResponse } from "node:http";
import { RemoteConnectorError } from "../../errors.js";
import type { Clock } from "../../transport/index.js";
import type { CallbackSession } from "../interaction.js";
import { type CallbackAnswer, type CallbackOutcome, callbackPage, refusalPage } from "./callback-page.js";
import { classifyVisit } from "./classify-visit.js";
import { LoopbackListener } from "./loopback-listener.js";
import { type LoopbackPlace, redirectUriOf } from "./loopback-place.js";

export interface LoopbackSessionConfig {
  readonly clock: Clock;
  readonly html: ((outcome: CallbackOutcome) => string) | undefined;
}

/** How long a browser that came back is kept waiting to be told how it ended. */
const HOLD_MS = 10_000;
const NOT_OPEN = { kind: "refused", status: 503 } as const;

/**
 * Waits at one place for a browser that comes back. The first visit is the one that {@link wait} answers with; the browsers of all
 * visits are held until {@link close} says how it ended, for ten seconds at most.
 */
export class LoopbackSession implements CallbackSession {
  readonly #config: LoopbackSessionConfig;
  readonly #arrival: Promise<URL>;
  #arrive: (url: URL) => void = ignore;
  #giveUp: (reason: unknown) => void = ignore;
  /** Answers that are held, each with what takes its deadline away. */
  readonly #held = new Map<ServerResponse, () => void>();
  #listener: LoopbackListener | undefined;
  /** `""` until the port is known: no request is one for it. */
  #redirectUri = "";
  #closing: Promise<void> | undefined;

  /** Listens. Rejects with `listen_failed`. */
  static async open(place: LoopbackPlace, config: LoopbackSessionConfig): Promise<LoopbackSession> {
    const session = new LoopbackSession(config);
    const listener = await LoopbackListener.open(place, (request, response) => session.#receive(request, response));
    session.#listener = listener;
    session.#redirectUri = redirectUriOf(place, listener.port);
    return session;
  }

  private constructor(config: LoopbackSessionConfig) {
    this.#config = config;
    this.#arrival = new Promise((resolve, reject) => {
      this.#arrive = resolve;
      this.#giveUp = reject;
    });
    // It is nobody's failure when nobody waits.
    this.#arrival.catch(ignore);
  }

  get redirectUri(): string {
    return this.#redirectUri;
  }

  /** Rejects with the signal's reason, or with `cancelled` when the session is closed before a browser came. */
  wait(signal: AbortSignal): Promise<URL> {
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      void this.#arrival.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
    });
  }

  close(outcome: "authorized" | "failed"): Promise<void> {
    this.#closing ??= this.#end(outcome);
    return this.#closing;
  }

  async #end(outcome: "authorized" | "failed"): Promise<void> {
    const reason = "the callback session was closed";
    const details = { reason };
    this.#giveUp(new RemoteConnectorError("cancelled", { message: `Nobody waits: ${reason}.`, details }));
    const answers = [...this.#held.keys()];
    for (const response of answers) this.#tell(response, outcome);
    await this.#listener?.close(answers, this.#config.clock);
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const { headersDistinct: headers, method = "", url: target = "" } = request;
    const isOpen = this.#redirectUri !== "" && this.#closing === undefined;
    const verdict = isOpen ? classifyVisit({ method, target, headers }, this.#redirectUri) : NOT_OPEN;
    if (verdict.kind === "refused") {
      send(response, refusalPage(verdict.status));
      return;
    }
    this.#arrive(verdict.url);
    const cancel = this.#config.clock.schedule(HOLD_MS, () => this.#tell(response, "received"));
    this.#held.set(response, cancel);
    response.once("close", () => this.#letGo(response));
  }

  #tell(response: ServerResponse, outcome: CallbackOutcome): void {
    this.#letGo(response);
    send(response, callbackPage(outcome, this.#config.html));
  }

  #letGo(response: ServerResponse): void {
    this.#held.get(response)?.();
    this.#held.delete(response);
  }
}

function send(response: ServerResponse, { body, headers, status }: CallbackAnswer): void {
  response.writeHead(status, headers).end(body);
}

function ignore(): void {
  // What was to be done is done already, or is nobody's business.
}
