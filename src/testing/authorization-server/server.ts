import type { IncomingMessage, ServerResponse } from "node:http";
import { type HttpListener, listen, readBody, sendEmpty, sendJson } from "../../serving/index.js";
import { answerUri, readAuthorization, type Visit } from "./authorization-request.js";
import type { AuthorizationClient } from "./client.js";
import { type AuthorizationEndpoint, AuthorizationFaults, type AuthorizationServerFault } from "./fault.js";
import { GrantBook, type IssuedToken } from "./grant-book.js";
import { type JsonAnswer, oauthError } from "./json-answer.js";
import { metadataOf, metadataPath } from "./metadata.js";
import {
  type AuthorizationServerConfig,
  type AuthorizationServerOptions,
  type Consent,
  resolveAuthorizationServerOptions,
} from "./options.js";
import { registerClient } from "./registration.js";
import { answerRevocation, answerTokenRequest } from "./token-request.js";

/** A request that the server received. Secrets are in it: it is for tests to look at. */
export interface AuthorizationServerRequest {
  readonly endpoint: AuthorizationEndpoint;
  readonly method: string;
  /** Of the query, or of the form; the last of each name. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
}

const METHODS: Readonly<Record<AuthorizationEndpoint, string>> = {
  authorize: "GET",
  metadata: "GET",
  register: "POST",
  revoke: "POST",
  token: "POST",
};

const MAX_BODY_BYTES = 64 * 1024;

/**
 * An OAuth 2.1 authorization server on a real socket: the code flow with PKCE, refresh, revocation, and faults on command.
 *
 * Whoever visits the authorization endpoint is redirected at once, or as `consent` says. Nothing is left after {@link close}.
 */
export class AuthorizationServer {
  /** What the next visitors do. */
  consent: Consent;
  readonly #config: AuthorizationServerConfig;
  readonly #clients: Map<string, AuthorizationClient>;
  readonly #grants: GrantBook;
  readonly #faults = new AuthorizationFaults();
  readonly #requests: AuthorizationServerRequest[] = [];
  #listener: HttpListener | undefined;

  private constructor(config: AuthorizationServerConfig) {
    this.#config = config;
    this.consent = config.consent;
    this.#clients = new Map(config.clients.map((client) => [client.clientId, client]));
    this.#grants = new GrantBook(config);
  }

  /** Starts a server. Rejects with `listen_failed`, or `invalid_options` (both `not_sent`). */
  static async start(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
    const server = new AuthorizationServer(resolveAuthorizationServerOptions(options));
    const { host, port } = server.#config;
    const answer = (request: IncomingMessage, response: ServerResponse) => server.#answer(request, response);
    server.#listener = await listen(answer, { host, port, closeTimeoutMs: 50 });
    return server;
  }

  /** The issuer identifier; the metadata is where RFC 8414 looks for it. */
  get issuer(): string {
    return `${this.#listener?.origin ?? ""}${this.#config.issuerPath}`;
  }

  /** The requests so far, those that met a fault included. */
  get requests(): readonly AuthorizationServerRequest[] {
    return this.#requests;
  }

  /** Every token that was issued, in order, with what became of it. */
  get tokens(): readonly IssuedToken[] {
    return this.#grants.tokens;
  }

  /** Whether a resource server would take this access token now: issued here, not revoked, not expired. */
  isValid(token: string): boolean {
    return this.#grants.isValid(token, this.#config.unixTime());
  }

  /** Revokes an access token, or with a refresh token everything of its consent, as a person does at the provider. */
  revoke(token: string): void {
    this.#grants.revoke(token);
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
    const parameters = new URLSearchParams(
      endpoint === "token" || endpoint === "revoke" ? Buffer.from(reading.body).toString("utf8") : url.search,
    );
    const { authorization } = request.headers;
    this.#requests.push({
      endpoint,
      method: request.method,
      parameters: Object.fromEntries(parameters),
      authorization,
    });
    const fault = this.#faults.take(endpoint);
    if (fault?.kind === "delay") await this.#delay(fault.ms, response);
    if (response.destroyed || (fault !== undefined && playFault(fault, response))) return undefined;
    if (endpoint === "authorize") return this.#authorize(parameters, fault, response);
    return sendAnswer(response, this.#answerJson(endpoint, request, reading.body, parameters));
  }

  #answerJson(
    endpoint: Exclude<AuthorizationEndpoint, "authorize">,
    request: IncomingMessage,
    body: Uint8Array,
    form: URLSearchParams,
  ): JsonAnswer {
    const context = { clients: this.#clients, grants: this.#grants, nowMs: this.#config.unixTime() };
    if (endpoint === "token") return answerTokenRequest(request.headers, form, context);
    if (endpoint === "revoke") return answerRevocation(request.headers, form, context);
    if (endpoint === "metadata") return { status: 200, body: metadataOf(this.issuer, this.#config) };
    const newSecret = (what: string): string => `${what}-${Buffer.from(this.#config.random(18)).toString("base64url")}`;
    const { answer, client } = registerClient(body, newSecret);
    if (client !== undefined) this.#clients.set(client.clientId, client);
    return answer;
  }

  async #authorize(
    query: URLSearchParams,
    fault: AuthorizationServerFault | undefined,
    response: ServerResponse,
  ): Promise<void> {
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
      ...(fault?.kind === "wrong_issuer" ? { iss: "https://issuer.test" } : {}),
    };
    sendEmpty(response, 302, { Location: answerUri(redirectUri, { ...answer, state, iss, ...changes }) });
  }

  #endpointOf(path: string): AuthorizationEndpoint | undefined {
    const { allowsRegistration, issuerPath } = this.#config;
    if (path === metadataPath(issuerPath)) return "metadata";
    if (!path.startsWith(`${issuerPath}/`)) return undefined;
    const name = path.slice(issuerPath.length + 1);
    if (name === "authorize" || name === "token" || name === "revoke") return name;
    return name === "register" && allowsRegistration ? name : undefined;
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

/** Whether a fault was the whole answer. */
function playFault(fault: AuthorizationServerFault, response: ServerResponse): boolean {
  if (fault.kind === "drop_connection") response.destroy();
  else if (fault.kind === "malformed") sendJson(response, 200, '{"access_token":');
  else if (fault.kind === "status") sendJson(response, fault.status, fault.body ?? "", fault.headers);
  else if (fault.kind === "error" && fault.endpoint !== "authorize") {
    sendAnswer(response, oauthError(fault.error, "as scripted"));
  } else return false;
  return true;
}

function sendAnswer(response: ServerResponse, { body, headers, status }: JsonAnswer): void {
  if (body === undefined) sendEmpty(response, status, headers);
  else sendJson(response, status, JSON.stringify(body), headers);
}

function sendPage(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" });
  response.end(`${text}\n`);
}
