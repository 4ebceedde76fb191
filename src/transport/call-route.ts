import type { AnswerHead } from "./answer-head.js";
import { askAuthorizer, type AuthorizationOwner } from "./call-authorization.js";
import type { ExchangeRequest } from "./exchange.js";
import { addHeaders, type HeaderMap, refuseCookie } from "./headers.js";
import { HeardRequest, isHearing, type RefusalOwner } from "./heard-request.js";
import type { HttpCallContext, HttpCallRequest } from "./http-call-ports.js";
import { MAX_REDIRECTS } from "./redirect.js";
import { RedirectTrail } from "./redirect-trail.js";

/**
 * The way of one request from exchange to exchange: where it goes, what authorizes it, and whether its present answer leads on, to
 * another place or to its authorizer.
 */
export class CallRoute {
  readonly #context: HttpCallContext;
  readonly #request: HttpCallRequest;
  /** Few requests are ever redirected. */
  #trail: RedirectTrail | undefined;
  /** Only when its authorizer hears what becomes of it. */
  #heard: HeardRequest | undefined;

  constructor(context: HttpCallContext, request: HttpCallRequest) {
    this.#context = context;
    this.#request = request;
  }

  /** Where the request goes now. */
  get url(): URL {
    return this.#trail?.url ?? this.#context.url;
  }

  /** Redirects that were followed since it was authorized. */
  get redirects(): number {
    return this.#trail?.count ?? 0;
  }

  /** Whether the present answer is a redirect to follow, once what is left of it has passed. */
  get isRedirect(): boolean {
    return this.#trail?.leadsOn === true;
  }

  /** Whether the present answer is a refusal of which the authorizer is to be asked. */
  get isRefusal(): boolean {
    return this.#heard?.leadsOn === true;
  }

  /** Whether the present answer is not the owner's, or not yet. */
  get leadsOn(): boolean {
    return this.isRedirect || this.isRefusal;
  }

  /** Whether the body of the last refusal came whole, or was cut only where that of any failed answer is. */
  get isWhole(): boolean {
    return this.#heard?.isWhole === true;
  }

  /** Begins at the endpoint, and asks who authorizes requests, if there is anyone. */
  authorize(owner: AuthorizationOwner): void {
    this.#trail = undefined;
    const { authorizer, url } = this.#context;
    if (authorizer === undefined) {
      owner.onAuthorized(undefined);
      return;
    }
    if (this.#heard !== undefined) {
      askAuthorizer(authorizer, this.#heard.request, owner);
      return;
    }
    const { operation, purpose, attempt, method, headers, isAwaited } = this.#request;
    const told = { url: url.href, method: operation, httpMethod: method, attempt, operation: purpose ?? {} };
    const request = isAwaited === undefined ? told : { ...told, isAwaited };
    if (isHearing(authorizer)) this.#heard = new HeardRequest(authorizer, request, headers);
    askAuthorizer(authorizer, request, owner);
  }

  /** Takes what the authorizer gave. Throws `invalid_header`. */
  authorized(given: HeaderMap | undefined): void {
    if (given !== undefined && this.#context.config.cookies !== undefined) refuseCookie(given);
    if (this.#heard !== undefined) this.#heard.authorized(given);
    else if (given !== undefined) addHeaders(this.#request.headers, given);
  }

  /** What goes out now. */
  outgoing(): ExchangeRequest {
    const { method, headers, body } = this.#request;
    const { path, config } = this.#context;
    const authorized = this.#heard?.headers ?? headers;
    const all = config.cookies === undefined ? authorized : config.cookies.addTo(authorized, this.url);
    return { method, path: this.redirects === 0 ? path : pathOf(this.url), headers: all, body };
  }

  /** Takes the head of an answer. Whether it leads on; of any other the authorizer is told. */
  take(head: AnswerHead): boolean {
    const { status, headers } = head;
    if (status === 307 || status === 308) {
      const { maxRedirects = MAX_REDIRECTS } = this.#request;
      this.#trail ??= new RedirectTrail(this.#context.url, maxRedirects);
      if (this.#trail.look(status, headers)) return true;
    }
    return this.#heard?.hear(head) === true;
  }

  /** Waits for the body of an answer that leads on, but not for long. */
  wait(giveUp: () => void): void {
    const passing = this.isRedirect ? this.#trail : this.#heard;
    passing?.wait(this.#context.config.clock, this.#request.limits.idleTimeoutMs, giveUp);
  }

  /** No more is wanted of the present answer's body, or none is left. */
  complete(): void {
    this.#heard?.complete();
  }

  /** Goes on to where the present answer redirects. */
  follow(): void {
    this.#trail?.follow();
  }

  /** Asks of the refusal that the present answer is, once. */
  ask(owner: RefusalOwner): void {
    this.#heard?.ask(owner);
  }

  /** Nobody is asked of the present answer. Idempotent. */
  leave(): void {
    this.#heard?.leave();
  }

  /** The request is over: nothing waits any more. Idempotent. */
  close(): void {
    this.#trail?.close();
    this.#heard?.close();
  }
}

function pathOf({ pathname, search }: URL): string {
  return pathname + search;
}
