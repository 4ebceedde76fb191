import type {
  Exchange,
  ExchangeCapability,
  ExchangeControl,
  ExchangeHandler,
  ExchangeRequest,
  ResponseHeaders,
} from "./exchange.js";
import { provesNotSent } from "./proves-not-sent.js";

/** What is used of WHATWG fetch. It must not repeat requests by itself, or no delivery verdict is worth anything. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

export interface FetchExchangeOptions {
  readonly origin: string;
  /** `globalThis.fetch`, read at each request, when left out. */
  readonly fetch?: FetchFunction | undefined;
  /**
   * Whether it sends a `Cookie` header as it is given, and shows `Set-Cookie`. Those of browsers and of Electron's `net` do
   * not. Default: true for Node's own, false for a `fetch` that is given.
   */
  readonly carriesCookies?: boolean | undefined;
}

/** Fetch tells neither when it connects nor to what, and takes no setting of either. */
const NONE: ReadonlySet<ExchangeCapability> = new Set();
const WITH_COOKIES: ReadonlySet<ExchangeCapability> = new Set(["cookies"]);

/**
 * The exchange over WHATWG fetch, for hosts that must use their own HTTP, such as Electron's `net.fetch`.
 *
 * A request starts just before `fetch` is called; its bytes leave some time later, and whether they did can't be seen. A
 * failure before the answer's head is therefore `unknown`, unless the error's code can only come from connecting. Redirects
 * are answers; where `fetch` hides them, as browsers do, they are failures. No ambient credentials are sent.
 */
export function createFetchExchange(options: FetchExchangeOptions): Exchange {
  const { origin, fetch, carriesCookies = fetch === undefined } = options;
  const running = new Set<FetchRun>();
  let isDestroyed = false;
  return {
    origin,
    capabilities: carriesCookies ? WITH_COOKIES : NONE,
    dispatch(request: ExchangeRequest, handler: ExchangeHandler): void {
      const run = new FetchRun(handler, (over) => running.delete(over));
      running.add(run);
      if (isDestroyed) run.abort(destroyedError());
      else run.start(fetch ?? globalThis.fetch, origin + request.path, request);
    },
    destroy() {
      isDestroyed = true;
      for (const run of running) run.abort(destroyedError());
      return Promise.resolve();
    },
  };
}

/** One request. It is its own control, and the one place that knows whether the handler has heard its last. */
class FetchRun implements ExchangeControl {
  readonly #handler: ExchangeHandler;
  readonly #forget: (run: FetchRun) => void;
  readonly #abortion = new AbortController();
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #hasHead = false;
  #isOver = false;

  constructor(handler: ExchangeHandler, forget: (run: FetchRun) => void) {
    this.#handler = handler;
    this.#forget = forget;
  }

  start(fetch: FetchFunction, url: string, request: ExchangeRequest): void {
    this.#handler.onRequestStart(this);
    // The handler may have refused.
    if (!this.#isOver) void this.#run(fetch, url, request);
  }

  abort(reason: Error): void {
    if (!this.#finish()) return;
    this.#abortion.abort(reason);
    // A fetch that is not Node's may not heed its signal.
    this.#reader?.cancel(reason).catch(ignore);
    queueMicrotask(() => this.#handler.onResponseError(this, reason));
  }

  async #run(fetch: FetchFunction, url: string, request: ExchangeRequest): Promise<void> {
    try {
      const response = await fetch(url, this.#init(request));
      if (this.#isOver) {
        await response.body?.cancel();
        return;
      }
      if (response.type === "opaqueredirect" || response.status === 0) throw new HiddenAnswerError();
      this.#hasHead = true;
      this.#handler.onResponseStart(this, response.status, headersOf(response));
      if (response.body !== null) await this.#read(response.body);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#finish()) this.#handler.onResponseEnd(this);
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    this.#reader = reader;
    // The handler may have had enough of the head already.
    if (this.#isOver) await reader.cancel();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#isOver) return;
        this.#handler.onResponseData(this, value);
      }
    } finally {
      reader.releaseLock();
    }
  }

  #init({ method, headers, body }: ExchangeRequest): RequestInit {
    const pairs: [string, string][] = [];
    for (let i = 0; i + 1 < headers.length; i += 2) pairs.push([headers[i] ?? "", headers[i + 1] ?? ""]);
    // Left to itself, fetch asks for compression.
    pairs.push(["Accept-Encoding", "identity"]);
    return {
      method,
      headers: pairs,
      body,
      redirect: "manual",
      credentials: "omit",
      signal: this.#abortion.signal,
    };
  }

  #fail(error: unknown): void {
    if (!this.#finish()) return;
    const notSent = !this.#hasHead && provesNotSent(error);
    // Whatever of it still runs is of no use to anyone.
    this.#abortion.abort();
    this.#handler.onResponseError(this, coreOf(error), notSent);
  }

  /** Whether this was not over before. */
  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#forget(this);
    return true;
  }
}

/** An answer of which `fetch` shows nothing. */
class HiddenAnswerError extends Error {
  readonly code = "ERR_ANSWER_HIDDEN";

  constructor() {
    super("The answer is hidden by fetch; it is probably a redirect.");
  }
}

/** The codings that fetch undoes by itself, while it leaves their name in the headers. */
const UNDONE = /^(?:x-)?gzip$|^deflate$|^br$/i;

function headersOf(response: Response): ResponseHeaders {
  // Without a prototype: a header may have any name that is a token.
  const headers: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of response.headers) {
    const present = headers[name];
    // Only cookies come more than once.
    if (present === undefined) headers[name] = value;
    else headers[name] = [present, value].flat();
  }
  const codings = response.headers.get("content-encoding")?.split(",") ?? [];
  if (codings.length > 0 && codings.every((coding) => UNDONE.test(coding.trim()))) {
    delete headers["content-encoding"];
    delete headers["content-length"];
  }
  return headers;
}

/** What went wrong under the `TypeError` that fetch makes of everything. */
function coreOf(error: unknown): Error {
  if (!(error instanceof Error)) return new Error("fetch failed with what is no error.");
  return error.cause instanceof Error ? error.cause : error;
}

function destroyedError(): Error {
  return new Error("The exchange is destroyed.");
}

function ignore(): void {}
