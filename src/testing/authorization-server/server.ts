import type { IncomingMessage, ServerResponse } from "node:http";
import { type HttpListener, listen, readBody, sendEmpty } from "../../serving/index.js";
import { DpopJudge } from "../dpop-judge.js";
import { answerUri, readAuthorization, type Visit } from "./authorization-request.js";
import { isDocumentUrl, readClientDocument } from "./client-document.js";
import type { AuthorizationClient } from "./client.js";
import { type AuthorizationEndpoint, AuthorizationFaults, type AuthorizationServerFault } from "./fault.js";
import { GrantBook, type IssuedToken } from "./grant-book.js";
import { type JsonAnswer, oauthError } from "./json-answer.js";
import { isMetadataPath, metadataPath } from "./metadata-place.js";
import { metadataOf } from "./metadata.js";
import {
  type AuthorizationRules,
  type AuthorizationServerConfig,
  type AuthorizationServerOptions,
  type Consent,
  refuseUnknownRules,
  resolveAuthorizationServerOptions,
} from "./options.js";
import type { AuthorizationServerRequest } from "./received.js";
import { registerClient } from "./registration.js";
import { playFault, sendAnswer, sendPage } from "./send.js";
import { answerRevocation, answerTokenRequest } from "./token-request.js";

const METHODS: Readonly<Record<AuthorizationEndpoint, string>> = {
  authorize: "GET",
  metadata: "GET",
  register: "POST",
  revoke: "POST",
  token: "POST",
};

const MAX_BODY_BYTES = 64 * 1024;

/**
 * An OAuth 2.1 authorization server on a real socket: the code flow with PKCE, refresh, revocation, other grants, and faults on command.
 *
 * Whoever visits the authorization endpoint is redirected at once, or as `consent` says. Nothing is left after {@link close}.
 */
export class AuthorizationServer {
  /** What the next visitors do. */
  consent: Consent;
  readonly #clients: Map<string, AuthorizationClient>;
  readonly #grants: GrantBook;
  readonly #dpop: DpopJudge;
  readonly #faults = new AuthorizationFaults();
  readonly #requests: AuthorizationServerRequest[] = [];
  #options: AuthorizationServerOptions;
  #config: AuthorizationServerConfig;
  #listener: HttpListener | undefined;

  private constructor(options: AuthorizationServerOptions) {
    this.#options = options;
    this.#config = resolveAuthorizationServerOptions(options);
    this.consent = this.#config.consent;
    this.#clients = new Map(this.#config.clients.map((client) => [client.clientId, client]));
    this.#grants = new GrantBook(this.#config);
    this.#dpop = new DpopJudge(() => this.#newSecret("nonce"));
  }

  /** Starts a server. Rejects with `listen_failed`, or `invalid_options` (both `not_sent`). */
  static async start(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
    const server = new AuthorizationServer(options);
    const { host, port } = server.#config;
    const answer = (request: IncomingMessage, response: ServerResponse) => server.#answer(request, response);
    server.#listener = await listen(answer, { host, port, closeTimeoutMs: 50 });
    return server;
  }

  /** Where it listens, without a path. */
  get origin(): string {
    return this.#listener?.origin ?? "";
  }

  /** The issuer identifier; the metadata is where RFC 8414 looks for it. */
  get issuer(): string {
    return this.#config.issuer ?? `${this.origin}${this.#config.issuerPath}`;
  }

  /** The requests so far, those that met a fault, and those for metadata that is not there, included. */
  get requests(): readonly AuthorizationServerRequest[] {
    return this.#requests;
  }

  /** Every token that was issued, in order, with what became of it. */
  get tokens(): readonly IssuedToken[] {
    return this.#grants.tokens;
  }

  /** Every client that is known now, those that registered, and those of documents, included. */
  get clients(): readonly AuthorizationClient[] {
    return [...this.#clients.values()];
  }

  /** Whether a resource server would take this access token now: issued here, not revoked, not expired. */
  isValid(token: string): boolean {
    return this.findValid(token) !== undefined;
  }

  /** The access token, where {@link isValid} holds. */
  findValid(token: string): IssuedToken | undefined {
    return this.#grants.findValid(token, this.#config.unixTime());
  }

  /** Ends the time of a token, whatever was said of it. */
  expireNow(token: string): void {
    this.#grants.expire(token, this.#config.unixTime());
  }

  /** Revokes an access token, or with a refresh token everything of its consent, as a person does at the provider. */
  revoke(token: string): void {
    this.#grants.revoke(token);
  }

  /** Forgets a client, so that it is unknown from now on. */
  forgetClient(clientId: string): void {
    this.#clients.delete(clientId);
  }

  /** Changes what counts from now on; what is left out stays. Throws `invalid_options`. */
  change(rules: AuthorizationRules): void {
    refuseUnknownRules(rules);
    const options = { ...this.#options, ...rules };
    this.#config = resolveAuthorizationServerOptions(options);
    this.#options = options;
    this.#grants.configure(this.#config);
  }

  /** The nonce that proofs need is another one from now on. */
  renewDpopNonce(): void {
    this.#dpop.renewNonce();
  }

  /** Puts a fault on the next requests of an endpoint. Each request meets at most one, the oldest. */
  addFault(fault: AuthorizationServerFault): void {
    this.#faults.add(fault);
  }

  /** Forgets the faults that nothing met yet. */
  clearFaults(): void {
    this.#faults.clear();
  }

  /** Stops listening and ends all connections. May be called again. */
  async close(): Promise<void> {
    await this.#listener?.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://unused");
    const endpoint = this.#endpointOf(url.pathname);
    if (endpoint === undefined) return sendEmpty(response, 404);
    if (request.method !== METHODS[endpoint]) return sendEmpty(response, 405, { Allow: METHODS[endpoint] });
    if (this.#requests.length >= this.#config.maxRequests) return sendEmpty(response, 503);
    const reading = await readBody(request, { maxBytes: MAX_BODY_BYTES });
    if (reading.kind === "aborted") return undefined;
    if (reading.kind === "too_large") return sendEmpty(response, 413, { Connection: "close" });
    const body = Buffer.from(reading.body).toString("utf8");
    const form = new URLSearchParams(endpoint === "token" || endpoint === "revoke" ? body : url.search);
    const { headers, method } = request;
    const parameters = Object.fromEntries(form);
    const { authorization } = headers;
    const received = { endpoint, method, path: url.pathname, parameters, authorization, headers, body };
    this.#requests.push(received);
    const fault = this.#faults.take(endpoint, url.pathname);
    if (fault?.kind === "delay") await this.#delay(fault.ms, response);
    if (response.destroyed || (fault !== undefined && playFault(fault, response))) return undefined;
    if (endpoint === "authorize") return this.#authorize(form, fault, response);
    const answer = await this.#answerJson(endpoint, received, form);
    return sendAnswer(response, await this.#config.rewrite(answer, received));
  }

  #answerJson(
    endpoint: Exclude<AuthorizationEndpoint, "authorize">,
    request: AuthorizationServerRequest,
    form: URLSearchParams,
  ): JsonAnswer | Promise<JsonAnswer> {
    const { authenticationMethods, issuerPath, metadataAt } = this.#config;
    switch (endpoint) {
      case "token":
        return this.#answerToken(request, form);
      case "revoke":
        return answerRevocation(request.headers, form, this.#context(undefined));
      case "metadata":
        return metadataAt.some((place) => metadataPath(place, issuerPath) === request.path)
          ? { status: 200, body: metadataOf(this.issuer, this.#config) }
          : { status: 404, body: undefined };
      case "register": {
        const newSecret = (what: string): string => this.#newSecret(what);
        const { answer, client } = registerClient(Buffer.from(request.body), authenticationMethods, newSecret);
        if (client !== undefined) this.#clients.set(client.clientId, client);
        return answer;
      }
    }
  }

  #answerToken(request: AuthorizationServerRequest, form: URLSearchParams): JsonAnswer | Promise<JsonAnswer> {
    const { demandsDpopNonce, dpop, unixTime } = this.#config;
    const proof = request.headers["dpop"];
    if (dpop === "ignored" || (proof === undefined && dpop === "supported")) {
      return answerTokenRequest(request.headers, form, this.#context(undefined));
    }
    const proven = { method: "POST", url: `${this.issuer}/token`, nowMs: unixTime() };
    const verdict = this.#dpop.judge(String(proof), proven, demandsDpopNonce);
    if (verdict.kind === "invalid") return oauthError("invalid_dpop_proof", verdict.reason);
    if (verdict.kind === "use_nonce") {
      return { ...oauthError("use_dpop_nonce", "a nonce is needed"), headers: { "DPoP-Nonce": verdict.nonce } };
    }
    return answerTokenRequest(request.headers, form, this.#context(verdict.thumbprint));
  }

  #context(thumbprint: string | undefined) {
    const config = this.#config;
    return {
      clients: this.#clients,
      methods: config.authenticationMethods,
      issuer: this.issuer,
      nowMs: config.unixTime(),
      grants: this.#grants,
      config,
      thumbprint,
    };
  }

  async #authorize(
    query: URLSearchParams,
    fault: AuthorizationServerFault | undefined,
    response: ServerResponse,
  ): Promise<void> {
    await this.#findClient(query.get("client_id") ?? "");
    const verdict = readAuthorization(query, this.#clients);
    if (verdict.kind === "page") return sendPage(response, 400, `This request can't be used: ${verdict.reason}.`);
    if (verdict.kind === "error") {
      return this.#redirect(response, verdict.redirectUri, verdict.state, { error: verdict.error }, fault);
    }
    const { visit } = verdict;
    const { redirectUri, state } = visit;
    if (fault?.kind === "error") return this.#redirect(response, redirectUri, state, { error: fault.error }, fault);
    const decision = typeof this.consent === "function" ? await this.consent(visit) : this.consent;
    if (decision === "wait") return sendPage(response, 200, "Do you agree? Nobody answers here.");
    const answer = decision === "deny" ? { error: "access_denied" } : { code: this.#codeFor(visit) };
    return this.#redirect(response, redirectUri, state, answer, fault);
  }

  /** Learns a client of a metadata document. */
  async #findClient(clientId: string): Promise<void> {
    const { findClientDocument } = this.#config;
    if (findClientDocument === undefined || this.#clients.has(clientId) || !isDocumentUrl(clientId)) return;
    const client = readClientDocument(clientId, await findClientDocument(clientId));
    if (client !== undefined) this.#clients.set(clientId, client);
  }

  #codeFor({ state: _state, parameters: _parameters, ...request }: Visit): string {
    return this.#grants.issueCode({ ...request, subject: this.#config.subject }, this.#config.unixTime());
  }

  #redirect(
    response: ServerResponse,
    redirectUri: string,
    state: string | undefined,
    answer: { readonly code?: string; readonly error?: string },
    fault: AuthorizationServerFault | undefined,
  ): void {
    const { announcesIssuer } = this.#config;
    const iss = fault?.kind === "no_issuer" || !announcesIssuer ? undefined : this.issuer;
    const changes = {
      ...(fault?.kind === "wrong_state" ? { state: `not-${state ?? ""}` } : {}),
      ...(fault?.kind === "no_state" ? { state: undefined } : {}),
      ...(fault?.kind === "wrong_issuer" ? { iss: fault.issuer ?? "https://issuer.test" } : {}),
    };
    sendEmpty(response, 302, { Location: answerUri(redirectUri, { ...answer, state, iss, ...changes }) });
  }

  #endpointOf(path: string): AuthorizationEndpoint | undefined {
    const { allowsRegistration, issuerPath } = this.#config;
    if (isMetadataPath(path)) return "metadata";
    if (!path.startsWith(`${issuerPath}/`)) return undefined;
    const name = path.slice(issuerPath.length + 1);
    if (name === "authorize" || name === "token" || name === "revoke") return name;
    return name === "register" && allowsRegistration ? name : undefined;
  }

  #newSecret(what: string): string {
    return `${what}-${Buffer.from(this.#config.random(18)).toString("base64url")}`;
  }

  /** Waits, or stops waiting when the caller leaves. */
  #delay(ms: number, response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#config.clock.schedule(ms, resolve);
      response.once("close", () => {
        cancel();
        resolve();
      });
    });
  }
}
