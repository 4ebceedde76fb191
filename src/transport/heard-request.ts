import type { RemoteConnectorError } from "../errors.js";
import type { AnswerHead } from "./answer-head.js";
import type { AuthorizationRefusal, Authorizer, AuthorizeRequest } from "./authorize.js";
import { authorizerFailure, isThenable } from "./call-authorization.js";
import type { Clock } from "./clock.js";
import type { ResponseHeaders } from "./exchange.js";
import { addHeaders, type HeaderMap } from "./headers.js";

/** How long the body of a refusal may take before its connection is given up, and the authorizer asked. */
const BODY_MS = 1_000;

/** Who waits for what becomes of a refused request. Exactly one of the two is called for each question, and must not throw. */
export interface RefusalOwner {
  onVerdict(isMadeAgain: boolean): void;
  /** `authorize_failed`, or the authorizer's own error of this package. */
  onUnauthorized(error: RemoteConnectorError): void;
}

/** Whether an authorizer hears what becomes of its requests. */
export function isHearing({ onRefused, onAnswered }: Authorizer): boolean {
  return onRefused !== undefined || onAnswered !== undefined;
}

/**
 * A request whose authorizer hears what becomes of it, and decides whether it is made again: what goes out with it, and the refusal
 * that its present answer is. It may be refused each time that it is made.
 */
export class HeardRequest {
  /** What the authorizer is told of it, each time. */
  readonly request: AuthorizeRequest;
  readonly #authorizer: Authorizer;
  readonly #own: readonly string[];
  #headers: string[];
  #sent: HeaderMap | undefined;
  /** Of which nobody was asked yet. */
  #refusal: Pick<AuthorizationRefusal, "status" | "headers"> | undefined;
  #isWhole = false;
  #stopPatience: (() => void) | undefined;
  /** Ends with the request. Few are ever refused. */
  #abortion: AbortController | undefined;

  /** @param own the checked headers of the request itself. They stay as they are. */
  constructor(authorizer: Authorizer, request: AuthorizeRequest, own: string[]) {
    this.#authorizer = authorizer;
    this.request = request;
    this.#own = own;
    this.#headers = own;
  }

  /** What goes out with it now. */
  get headers(): string[] {
    return this.#headers;
  }

  /** Whether the present answer is a refusal of which the authorizer is to be asked. */
  get leadsOn(): boolean {
    return this.#refusal !== undefined;
  }

  /** Whether the body of the last refusal came whole, or was cut only where that of any failed answer is. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Takes what the authorizer gave; nothing of what it gave before goes out with it. Throws `invalid_header`. */
  authorized(given: HeaderMap | undefined): void {
    this.#sent = given;
    this.#headers = [...this.#own];
    if (given !== undefined) addHeaders(this.#headers, given);
  }

  /** Takes the head of an answer. Whether that is a refusal to ask of; of any other the authorizer is told. Throws nothing. */
  hear({ status, headers }: AnswerHead): boolean {
    if (this.#authorizer.onRefused !== undefined && (status === 401 || status === 403)) {
      this.#refusal = { status, headers };
      this.#isWhole = false;
      return true;
    }
    try {
      this.#authorizer.onAnswered?.(this.request, headers);
    } catch {
      // It listens, and decides nothing.
    }
    return false;
  }

  /** The body of a refusal may be what the caller gets: its end is waited for, but not for long. */
  wait(clock: Clock, idleTimeoutMs: number, giveUp: () => void): void {
    this.#stopPatience = clock.schedule(Math.min(BODY_MS, idleTimeoutMs / 2), giveUp);
  }

  /** No more is wanted of the refusal's body, or none is left. */
  complete(): void {
    this.#isWhole = true;
  }

  /** Asks of the refusal, once. The owner is told at once when the answer is there at once. */
  ask(owner: RefusalOwner): void {
    const refusal = this.#refusal;
    this.leave();
    if (refusal === undefined) return;
    this.#abortion ??= new AbortController();
    const challenges = challengesIn(refusal.headers);
    const { signal } = this.#abortion;
    let verdict: unknown;
    let later: Promise<unknown> | undefined;
    try {
      const asked = { request: this.request, ...refusal, challenges, sent: this.#sent, signal };
      verdict = this.#authorizer.onRefused?.(asked);
      // Not every thenable settles once.
      if (isThenable(verdict)) later = Promise.resolve(verdict);
    } catch (error) {
      owner.onUnauthorized(authorizerFailure(error));
      return;
    }
    if (later === undefined) {
      owner.onVerdict(verdict === true);
      return;
    }
    later.then(
      (isMadeAgain) => owner.onVerdict(isMadeAgain === true),
      (error: unknown) => owner.onUnauthorized(authorizerFailure(error)),
    );
  }

  /** Nobody is asked of the present answer. Idempotent. */
  leave(): void {
    this.#stopPatience?.();
    this.#stopPatience = undefined;
    this.#refusal = undefined;
  }

  /** The request is over: nobody waits for a verdict. Idempotent. */
  close(): void {
    this.leave();
    this.#abortion?.abort();
  }
}

function challengesIn(headers: ResponseHeaders): readonly string[] {
  const fields = headers["www-authenticate"];
  if (fields === undefined) return [];
  return typeof fields === "string" ? [fields] : fields;
}
