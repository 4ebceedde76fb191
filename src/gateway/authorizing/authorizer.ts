import type { ChangeOutcome } from "../authorization-state.js";
import type { GatewayConfig, GatewayConnector } from "../options.js";
import { type ControlError, inProgress, notFound, unavailable } from "./control-error.js";
import { canCarry, type Credential, lastingCredential, wipeCredential } from "./credential.js";
import { judgeSecret } from "./judge-secret.js";
import { isDenial, isLasting } from "./provider-failure.js";
import { Provider } from "./provider.js";
import type { AuthorizationSession } from "./session.js";
import { SessionBook, type SessionRequest } from "./session-book.js";
import { verifySecret } from "./verify-secret.js";

export interface AuthorizerParts {
  readonly config: GatewayConfig;
  /** Where the browser comes back to. One address for each connector: no server's answer is taken for another's. */
  readonly redirectUri: (connectorId: string) => string;
  /** Connects an account by a credential. */
  readonly grant: (accountId: string, connectorId: string, credential: Credential) => Promise<ChangeOutcome>;
}

/** What became of a browser that came back. */
export type Arrival = "connected" | "denied" | "failed" | "unknown";

/** What a renewal came to: `over` when only a new authorization helps, `undefined` when it may succeed later. */
export type Renewal = Credential | "over" | undefined;

const FAILED = "connector_authorization_failed";

/**
 * Lets accounts authorize connectors by themselves: begins sessions, takes secrets and the answers of authorization servers,
 * and makes connections of them. Its methods give what the contract answers; they reject only for faults of the gateway's.
 */
export class Authorizer {
  readonly #parts: AuthorizerParts;
  readonly #book: SessionBook;
  readonly #providers = new Map<string, Provider>();
  /** Sessions whose first step is under way. */
  readonly #prompting = new Map<string, Promise<ControlError | undefined>>();
  /** Sessions whose connection is being made. */
  readonly #settling = new Map<string, Promise<unknown>>();
  readonly #closed = new AbortController();

  constructor(parts: AuthorizerParts) {
    this.#parts = parts;
    const { authorizationSessionKeepMs, authorizationSessionMs, clock, maxAuthorizationSessions, random } =
      parts.config;
    this.#book = new SessionBook({
      clock,
      random,
      sessionMs: authorizationSessionMs,
      keepMs: authorizationSessionKeepMs,
      maxSessions: maxAuthorizationSessions,
    });
  }

  /** All sessions that are remembered. What they ask their accounts to do is not for others to see. */
  get sessions(): readonly AuthorizationSession[] {
    return this.#book.list();
  }

  /** Begins a session, or finds the one that was begun by the same request. */
  async begin(connector: GatewayConnector, request: SessionRequest): Promise<AuthorizationSession | ControlError> {
    if (connector.authorizing === undefined) {
      return incompatible(422, "The connector is not authorized by its accounts");
    }
    if (request.connectorVersion !== connector.connectorVersion) {
      return incompatible(409, "Another version of the connector is served");
    }
    const active = request.replacesActive ? this.#book.active(request.accountId, request.connectorId) : undefined;
    if (active?.isSettling === true) await this.#settling.get(active.sessionId);
    const start = this.#book.begin(request);
    if (start.kind === "in_progress") return inProgress("Another session of the connector is not over", false);
    if (start.kind === "full") return unavailable("There are too many sessions");
    if (start.kind === "conflict") {
      const message = "The clientRequestId was used for another connector or version";
      return { status: 409, code: "connector_market_revision_conflict", message, retryable: false };
    }
    const { sessionId } = start.session;
    if (start.kind === "begun") this.#prompt(sessionId, connector);
    const failure = await this.#prompting.get(sessionId);
    return failure ?? this.#book.find(request.accountId, sessionId) ?? start.session;
  }

  /** A session of this account. */
  find(accountId: string, sessionId: string): AuthorizationSession | ControlError {
    return this.#book.find(accountId, sessionId) ?? notFound("authorization session");
  }

  /** Takes the secret of a session, which is wiped when nothing came of it. One that is over is answered as it is. */
  async complete(accountId: string, sessionId: string, secret: Buffer): Promise<AuthorizationSession | ControlError> {
    const session = this.#book.find(accountId, sessionId);
    const connector = this.#parts.config.connectors.get(session?.connectorId ?? "");
    const offer = judgeSecret(session, connector, secret);
    if (offer.kind === "refused") {
      secret.fill(0);
      return offer.outcome;
    }
    this.#book.apply(sessionId, { kind: "take" });
    const { clock, onFault, providerTimeoutMs: timeoutMs } = this.#parts.config;
    const options = { clock, timeoutMs, closed: this.#closed.signal, onFault };
    const isTaken = await verifySecret(offer.authorizing.verify, secret, options);
    if (isTaken) await this.#settle(offer.session, lastingCredential(secret));
    else {
      this.#book.apply(sessionId, { kind: "fail", errorCode: FAILED });
      secret.fill(0);
    }
    return this.find(accountId, sessionId);
  }

  /** Ends a session that is not over. Of one whose connection is being made, the outcome is waited for. */
  async cancel(accountId: string, sessionId: string): Promise<AuthorizationSession | ControlError> {
    const session = this.#book.find(accountId, sessionId);
    if (session === undefined) return notFound("authorization session");
    this.#book.apply(sessionId, { kind: "cancel" });
    await this.#settling.get(sessionId);
    return this.find(accountId, sessionId);
  }

  /** Ends what the account has begun for a connector, so that no connection comes of it any more. */
  async cancelActive(accountId: string, connectorId: string): Promise<void> {
    const active = this.#book.active(accountId, connectorId);
    if (active !== undefined) await this.cancel(accountId, active.sessionId);
  }

  /**
   * Takes what a browser brought back from a connector's authorization server. A state that is not known, or another connector's,
   * changes nothing. `visitor` is whose browser it is, when it says so: it need not, but it may not be another account's.
   */
  async arrive(connectorId: string, answer: URLSearchParams, visitor: string | undefined): Promise<Arrival> {
    const provider = this.#providerOf(connectorId);
    const [state, ...others] = answer.getAll("state");
    if (provider === undefined || state === undefined || others.length > 0) return "unknown";
    const taken = this.#book.takeState(state, connectorId, visitor);
    if (taken === undefined) return "unknown";
    const { codeVerifier, session } = taken;
    const { sessionId } = session;
    try {
      const credential = await provider.arrive(answer, state, codeVerifier, this.#parts.redirectUri(connectorId));
      await this.#settle(session, credential);
    } catch (error) {
      if (isDenial(error)) {
        this.#book.apply(sessionId, { kind: "fail", errorCode: "connector_authorization_denied" });
        return "denied";
      }
      this.#book.apply(sessionId, { kind: "fail", errorCode: FAILED });
      this.#parts.config.onFault(error);
    }
    return this.#book.find(session.accountId, sessionId)?.status === "SUCCEEDED" ? "connected" : "failed";
  }

  /** A new credential for one that is about to expire. Failures that may pass are told to `onFault`. */
  async renew(connectorId: string, refreshToken: Buffer): Promise<Renewal> {
    try {
      return await this.#providerOf(connectorId)?.renew(refreshToken);
    } catch (error) {
      if (isLasting(error)) return "over";
      this.#parts.config.onFault(error);
      return undefined;
    }
  }

  /** Gives a credential up: told to the provider, where it can be, and wiped. Does not wait for the provider. */
  giveUp(connectorId: string, credential: Credential): void {
    const told = this.#providerOf(connectorId)?.revoke(credential);
    void told?.catch(this.#parts.config.onFault);
    wipeCredential(credential);
  }

  /** Ends what is asked of providers. Resolves when no connection is being made any more; none is made afterwards. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all(this.#settling.values());
  }

  #prompt(sessionId: string, connector: GatewayConnector): void {
    const provider = this.#providerOf(connector.connectorId);
    if (provider === undefined) {
      this.#book.apply(sessionId, { kind: "prompt", nextAction: { type: "submit_secret" } });
      return;
    }
    const prompting = this.#depart(sessionId, connector.connectorId, provider).finally(() =>
      this.#prompting.delete(sessionId),
    );
    this.#prompting.set(sessionId, prompting);
  }

  async #depart(sessionId: string, connectorId: string, provider: Provider): Promise<ControlError | undefined> {
    try {
      const { attempt, url } = await provider.depart(this.#parts.redirectUri(connectorId));
      this.#book.apply(sessionId, { kind: "prompt", nextAction: { type: "redirect", url } }, attempt);
      return undefined;
    } catch (error) {
      this.#parts.config.onFault(error);
      const isDropped = this.#book.drop(sessionId);
      return isDropped ? unavailable("The authorization server of the connector is not available") : undefined;
    }
  }

  /** Makes the connection. Nothing comes of a session that ended while the credential was on its way, nor after the end. */
  async #settle(session: AuthorizationSession, credential: Credential): Promise<void> {
    const { accountId, connectorId, sessionId } = session;
    if (this.#closed.signal.aborted) {
      this.#book.apply(sessionId, { kind: "fail", errorCode: FAILED });
      return wipeCredential(credential);
    }
    if (this.#book.apply(sessionId, { kind: "settle" }) === undefined) return this.giveUp(connectorId, credential);
    const settling = this.#connect(sessionId, accountId, connectorId, credential).finally(() =>
      this.#settling.delete(sessionId),
    );
    this.#settling.set(sessionId, settling);
    await settling;
  }

  async #connect(sessionId: string, accountId: string, connectorId: string, credential: Credential): Promise<void> {
    try {
      const { connection } = await this.#parts.grant(accountId, connectorId, credential);
      if (connection === undefined) throw new Error("A grant made no connection.");
      this.#book.apply(sessionId, { kind: "succeed", connectionId: connection.connectionId });
    } catch (error) {
      this.#book.apply(sessionId, { kind: "fail", errorCode: FAILED });
      this.giveUp(connectorId, credential);
      this.#parts.config.onFault(error);
    }
  }

  #providerOf(connectorId: string): Provider | undefined {
    const connector = this.#parts.config.connectors.get(connectorId);
    if (connector?.authorizing?.kind !== "oauth") return undefined;
    const known = this.#providers.get(connectorId);
    if (known !== undefined) return known;
    const { clock, providerTimeoutMs: timeoutMs, random } = this.#parts.config;
    const provider = new Provider(connector.authorizing, {
      connectorId,
      canCarry: (secret) => canCarry(connector, secret),
      clock,
      random,
      timeoutMs,
      closed: this.#closed.signal,
    });
    this.#providers.set(connectorId, provider);
    return provider;
  }
}

function incompatible(status: 409 | 422, message: string): ControlError {
  return { status, code: "connector_incompatible", message, retryable: false };
}
