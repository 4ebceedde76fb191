import type { Clock } from "./clock.js";
import type { ResponseHeaders } from "./exchange.js";
import { redirectTarget } from "./redirect.js";

/** How long the body of a redirect may take before its connection is given up, and the redirect followed. */
const BODY_MS = 250;

/** Where redirects have led a request, and where its present answer leads. */
export class RedirectTrail {
  readonly #maxRedirects: number;
  #count = 0;
  #url: URL;
  #next: URL | undefined;
  #stopPatience: (() => void) | undefined;

  constructor(url: URL, maxRedirects: number) {
    this.#url = url;
    this.#maxRedirects = maxRedirects;
  }

  /** Where the request goes now. */
  get url(): URL {
    return this.#url;
  }

  /** Redirects that were followed. */
  get count(): number {
    return this.#count;
  }

  /** Whether the present answer leads on, once what is left of it has passed. */
  get leadsOn(): boolean {
    return this.#next !== undefined;
  }

  /** Looks at the head of an answer. Whether it is a redirect to follow. */
  look(status: number, headers: ResponseHeaders): boolean {
    if (this.#count < this.#maxRedirects) this.#next = redirectTarget(status, headers, this.#url);
    return this.#next !== undefined;
  }

  /** What follows a redirect's head says nothing: its end is waited for, but not for long. */
  wait(clock: Clock, idleTimeoutMs: number, giveUp: () => void): void {
    this.#stopPatience = clock.schedule(Math.min(BODY_MS, idleTimeoutMs / 2), giveUp);
  }

  /** Goes on to where the answer leads. */
  follow(): void {
    this.close();
    this.#url = this.#next ?? this.#url;
    this.#next = undefined;
    this.#count += 1;
  }

  /** Afterwards nothing waits. Idempotent. */
  close(): void {
    this.#stopPatience?.();
    this.#stopPatience = undefined;
  }
}
