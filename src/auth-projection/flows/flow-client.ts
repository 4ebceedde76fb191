import { refuseUnknownOptions } from "../../options.js";
import {
  type Clock,
  createUndiciExchange,
  type Exchange,
  HttpEndpoint,
  type HttpAnswer,
  httpGet,
  httpSend,
  resolveTransportOptions,
  type TransportConfig,
} from "../../transport/index.js";
import { controlUrl } from "../control-url.js";
import type { Login, LoginGuard } from "../login.js";
import { checkControlAnswer, jsonOf, withoutHeaders, withoutSecret } from "./control-answer.js";
import { parseSession, type SessionExpectation } from "./parse-session.js";
import { encodeSecretBody } from "./secret.js";
import type { AuthorizationSession, FlowSessions, KnownSession, SessionRequest } from "./session.js";

export interface FlowClientOptions {
  /** Base of the control plane: https, or http on loopback. A path is allowed; userinfo, query and fragment are not. */
  readonly controlBase: string | URL;
  readonly login: Login;
  readonly logins: LoginGuard;
  /** The exchange to use in place of undici's. The client destroys it when it is closed. */
  readonly exchange?: Exchange | undefined;
  /** Monotonic, for the deadlines. */
  readonly clock?: Clock | undefined;
}

const OPTION_NAMES: readonly (keyof FlowClientOptions)[] = ["clock", "controlBase", "exchange", "login", "logins"];
const MAX_BODY_BYTES = 256 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_CONNECTIONS = 8;
const REPLACE_ACTIVE = "CONNECTOR_AUTHORIZATION_REPLACEMENT_POLICY_REPLACE_ACTIVE";

/**
 * The control plane's authorization sessions over HTTP, for one login: each request with credentials read for it, within 30
 * seconds in all, 256 KiB of answer at most, no redirects, none repeated.
 *
 * Pages that a session sends a person to are https without userinfo. Plain http is taken only on loopback, and only when the
 * control plane itself is plain http on loopback, as in a test.
 *
 * When the login ends, what runs is rejected at once with `cancelled`, and so is everything later.
 */
export class FlowClient implements FlowSessions {
  readonly #base: URL;
  readonly #config: TransportConfig;
  readonly #exchange: Exchange;
  readonly #authorize: ReturnType<LoginGuard["authorizerFor"]>;
  readonly #loginSignal: AbortSignal;
  /** The resources that are being asked. They share one exchange. */
  readonly #endpoints = new Set<HttpEndpoint>();
  #closing: Promise<void> | undefined;

  /** Throws `invalid_options`, or `invalid_url` for a base that is refused. */
  constructor(options: FlowClientOptions) {
    refuseUnknownOptions(options, OPTION_NAMES);
    const { clock, controlBase, login, logins } = options;
    this.#base = controlUrl(controlBase, "");
    const { origin } = this.#base;
    this.#exchange = options.exchange ?? createUndiciExchange({ origin, maxConnections: MAX_CONNECTIONS });
    this.#config = resolveTransportOptions({
      clock,
      exchange: this.#exchange,
      maxBodyBytes: MAX_BODY_BYTES,
      connectTimeoutMs: TIMEOUT_MS,
      idleTimeoutMs: TIMEOUT_MS,
      totalTimeoutMs: TIMEOUT_MS,
    });
    this.#authorize = logins.authorizerFor(login);
    this.#loginSignal = logins.signalOf(login);
    this.#loginSignal.addEventListener("abort", this.#onLoginEnd);
    if (this.#loginSignal.aborted) this.#onLoginEnd();
  }

  async begin(request: SessionRequest, signal: AbortSignal): Promise<AuthorizationSession> {
    const { connectorKey, connectorVersion, clientRequestId, replaces, hasSecret } = request;
    const policy = replaces ? { replacementPolicy: REPLACE_ACTIVE } : {};
    const body = new TextEncoder().encode(JSON.stringify({ clientRequestId, connectorVersion, ...policy }));
    const path = `/v1/connectors/${encodeURIComponent(connectorKey)}/authorization-sessions`;
    const answer = await this.#send("POST", path, body, signal);
    checkControlAnswer(answer);
    return this.#parse(answer, { connectorVersion, needsVersion: true, sessionId: undefined, hasSecret });
  }

  async complete(session: KnownSession, secret: Uint8Array, signal: AbortSignal): Promise<AuthorizationSession> {
    const { sessionId, connectorVersion } = session;
    const body = encodeSecretBody(secret);
    try {
      const answer = await this.#send("POST", `${sessionPath(sessionId)}/complete`, body, signal);
      checkControlAnswer(answer, secret);
      const read = this.#parse(answer, { connectorVersion, needsVersion: true, sessionId, hasSecret: false });
      return { ...read, errorCode: withoutSecret(read.errorCode, secret) };
    } catch (error) {
      throw withoutHeaders(error);
    } finally {
      body.fill(0);
    }
  }

  async observe({ sessionId, connectorVersion }: KnownSession, signal: AbortSignal): Promise<AuthorizationSession> {
    const answer = await this.#ask(sessionPath(sessionId), (endpoint) => httpGet(endpoint, { signal }));
    checkControlAnswer(answer);
    return this.#parse(answer, { connectorVersion, needsVersion: false, sessionId, hasSecret: false });
  }

  end(sessionId: string, signal: AbortSignal): Promise<void> {
    return this.#delete(sessionPath(sessionId), signal);
  }

  disconnect(connectorKey: string, signal: AbortSignal): Promise<void> {
    return this.#delete(`/v1/connectors/${encodeURIComponent(connectorKey)}/authorization`, signal);
  }

  /** Ends what runs with `cancelled` and drops its connections. Idempotent. */
  close(): Promise<void> {
    this.#loginSignal.removeEventListener("abort", this.#onLoginEnd);
    this.#closing ??= Promise.all([
      ...Array.from(this.#endpoints, (endpoint) => endpoint.close()),
      this.#exchange.destroy(),
    ]).then(() => undefined);
    return this.#closing;
  }

  async #delete(path: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#send("DELETE", path, null, signal);
    if (answer.status !== 404 && answer.status !== 410) checkControlAnswer(answer);
  }

  #send(
    method: "POST" | "DELETE",
    path: string,
    body: Uint8Array<ArrayBuffer> | null,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    return this.#ask(path, (endpoint) => httpSend(endpoint, method, body, { signal }));
  }

  /** One request to one resource, over the connections of all. */
  async #ask(path: string, send: (endpoint: HttpEndpoint) => Promise<HttpAnswer>): Promise<HttpAnswer> {
    const endpoint = new HttpEndpoint(controlUrl(this.#base, path), this.#config, this.#authorize);
    this.#endpoints.add(endpoint);
    try {
      if (this.#closing !== undefined) await endpoint.close();
      return await send(endpoint);
    } finally {
      this.#endpoints.delete(endpoint);
    }
  }

  #parse(answer: HttpAnswer, expected: Omit<SessionExpectation, "allowsLoopbackHttp">): AuthorizationSession {
    // A base that is http is on loopback: no other is taken.
    return parseSession(jsonOf(answer), { ...expected, allowsLoopbackHttp: this.#base.protocol === "http:" });
  }

  readonly #onLoginEnd = (): void => {
    void this.close();
  };
}

function sessionPath(sessionId: string): string {
  return `/v1/connector-authorization-sessions/${encodeURIComponent(sessionId)}`;
}
