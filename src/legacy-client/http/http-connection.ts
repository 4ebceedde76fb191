import { isRemoteConnectorError, type RemoteConnectorError } from "../../errors.js";
import {
  type Diagnostic,
  type JsonObject,
  type LegacyRevision,
  MessageChannel,
  type Notification,
  type ReadRetryConfig,
} from "../../protocol/index.js";
import { closedError, HttpEndpoint, type LifetimeLimits, type Telemetry } from "../../transport/index.js";
import { ClientListeners } from "../client-listeners.js";
import type { CallSpec, LegacyConnection } from "../connection.js";
import type { ServerIntroduction } from "../initialize.js";
import { holdCalls, ServerRequests } from "../server-requests.js";
import { ListeningStream } from "./listening-stream.js";
import type { LegacyHttpConfig } from "./options.js";
import { postMessage } from "./post-message.js";
import type { ResumeConfig } from "./plan-resume.js";
import type { RequestScope, Session } from "./session.js";
import { SessionCall } from "./session-call.js";
import type { BoundCall, OpenSessionCall, SessionCallHost } from "./session-call-ports.js";
import { SessionKeeper, type SessionKeeperHost } from "./session-keeper.js";
import { messagesIn } from "./split-batch.js";

/** How long the start waits for the listening stream's first answer. */
const LISTENING_ANSWER_MS = 2_000;
/** How many messages beside calls may be on their way at once, whatever calls may. */
const SIDE_REQUESTS = 16;

/**
 * One conversation with one server over HTTP: its session and those that follow it, its calls, what the server says by itself.
 *
 * Calls share one endpoint. The listening stream, answers to the server's requests, notifications, and the making of later
 * sessions have another, with turns and connections of their own: nothing of that ever waits for a call.
 *
 * Source: 2025-11-25, Transports, Streamable HTTP.
 */
export class HttpConnection implements LegacyConnection, SessionCallHost, SessionKeeperHost {
  readonly endpoint: HttpEndpoint;
  readonly channel = new MessageChannel<OpenSessionCall>();
  readonly resume: ResumeConfig;
  readonly readRetries: ReadRetryConfig;
  readonly #config: LegacyHttpConfig;
  readonly #calls = new Set<OpenSessionCall>();
  readonly #sessions: SessionKeeper;
  readonly #served: ServerRequests;
  readonly #listeners: ClientListeners;
  #side: HttpEndpoint | undefined;
  #listening: ListeningStream | undefined;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(config: LegacyHttpConfig) {
    this.#config = config;
    this.#listeners = new ClientListeners(config);
    this.resume = config.resume;
    this.readRetries = config.readRetries;
    this.endpoint = new HttpEndpoint(config.url, config.transport, config.authorize);
    const host = {
      sendResponse: (text: string) => this.#post(text, "POST"),
      onServing: (isServing: boolean) => holdCalls(this.#calls, isServing),
      serverInfo: () => this.introduction.serverInfo,
    };
    this.#served = new ServerRequests(host, config.answerer);
    this.#sessions = new SessionKeeper(this);
  }

  get config(): LegacyHttpConfig {
    return this.#config;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens the first session. Rejects as a handshake does; `onSent` is told whose delivery verdict is the rejection's. */
  async open(signal: AbortSignal | undefined, onSent: (sent: Promise<unknown>) => void): Promise<void> {
    const session = await this.#sessions.open(this.endpoint, signal, onSent);
    const listening = this.#listen(session);
    if (listening !== undefined && signal?.aborted !== true) await this.#answered(listening, signal);
    if (signal?.aborted === true) throw signal.reason;
  }

  get introduction(): ServerIntroduction {
    return this.#sessions.last?.introduction ?? UNKNOWN;
  }

  get isServing(): boolean {
    return this.#served.isServing;
  }

  get isListening(): boolean {
    return this.#listening?.isKept === true;
  }

  get telemetry(): Telemetry {
    return this.#config.telemetry;
  }

  get revision(): LegacyRevision | undefined {
    return this.#sessions.last?.introduction.revision;
  }

  refusal(): RemoteConnectorError | undefined {
    return this.#isClosed ? closedError() : undefined;
  }

  call<T>(spec: CallSpec<T>, bound?: BoundCall): Promise<T> {
    const call = new SessionCall(this, spec, bound);
    this.#calls.add(call);
    return call.start().promise;
  }

  notify(method: string, params?: JsonObject): void {
    this.#notifyIn(this.#sessions.last, method, params);
  }

  report(diagnostic: Diagnostic): void {
    this.#config.onDiagnostic(diagnostic);
  }

  session(): Session | Promise<Session> {
    return this.#sessions.use();
  }

  renew(generation: number): Session | Promise<Session> {
    return this.#sessions.renew(generation);
  }

  receive(value: unknown, message: Uint8Array | string, origin: OpenSessionCall | undefined): void {
    const reception = this.channel.receive(value);
    switch (reception.kind) {
      case "answer":
        reception.request.onAnswer(reception.answer, message, reception.diagnostic);
        return;
      case "progress":
        reception.request.onProgress(reception.progress);
        return;
      case "notification":
        this.#deliver(reception.notification, origin);
        return;
      case "server_request":
        this.#served.receive(reception);
        return;
      case "ignored":
        this.#listeners.ignored(reception.diagnostic);
    }
  }

  cancelRequest(scope: RequestScope, requestId: number): void {
    this.#notifyIn(scope, "notifications/cancelled", { requestId, reason: "The answer is no longer needed." });
  }

  onResult(method: string, params: JsonObject | undefined): void {
    if (method.startsWith("resources/") || method.startsWith("logging/")) this.#sessions.remember(method, params);
  }

  onSettled(call: OpenSessionCall): void {
    this.#calls.delete(call);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    this.#served.cancelAll();
    this.#listening?.close();
    // The newest first: those that wait must not be given the turns of those that end.
    for (const call of [...this.#calls].toReversed()) call.onClosed();
    // Before the endpoints are closed: with an exchange of the caller's they share its connections.
    await this.#sessions.end();
    await Promise.all([this.endpoint.close(), this.#side?.close()]);
  }

  onLost(): void {
    this.#served.cancelAll();
    this.#listening?.close();
    this.#deafen();
  }

  onReplaced(session: Session): void {
    this.#listen(session);
  }

  #listen(session: Session): ListeningStream | undefined {
    const { listen, transport, wallNow, onNotification, answerer } = this.#config;
    const isHeard = onNotification !== undefined || answerer !== undefined;
    if (this.#isClosed || listen === "never" || (listen === "auto" && !isHeard)) return undefined;
    const listening = new ListeningStream(
      {
        endpoint: this.sideEndpoint(),
        resume: this.resume,
        connectTimeoutMs: transport.connectTimeoutMs,
        wallNow,
        receive: (value, message) => this.#hear(session, value, message),
        onListeningEnd: (reason) => {
          if (reason !== undefined) this.report({ kind: "not_listening", message: `Not listening: ${reason}.` });
          this.#deafen();
        },
        onSessionLost: ({ generation }) => void this.#renewInBackground(generation),
      },
      session,
    );
    this.#listening = listening;
    listening.open();
    return listening;
  }

  #hear({ takesBatches }: RequestScope, value: unknown, message: string): void {
    for (const call of this.#calls) call.touch();
    for (const one of messagesIn(value, message, takesBatches)) this.receive(one.value, one.message, undefined);
  }

  /** Waits a moment for what the server says to the listening stream: what it sends at once is heard then. */
  #answered(listening: ListeningStream, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const limits = {
        connectTimeoutMs: Infinity,
        idleTimeoutMs: Infinity,
        totalTimeoutMs: LISTENING_ANSWER_MS,
        signal,
      };
      const watch = this.endpoint.lifetimes.open({ onAbort: () => resolve(), onDeadline: () => resolve() }, limits);
      void listening.answered.then(() => {
        watch.close();
        resolve();
      });
    });
  }

  async #renewInBackground(generation: number): Promise<void> {
    try {
      await this.renew(generation);
    } catch (error) {
      // The next call finds it out by itself.
      if (!isRemoteConnectorError(error)) throw error;
    }
  }

  /** Calls whose responses were to come on the listening stream have nothing to wait for. */
  #deafen(): void {
    for (const call of Array.from(this.#calls)) call.onDeaf();
  }

  #deliver(notification: Notification, origin: OpenSessionCall | undefined): void {
    if (notification.method === "notifications/cancelled") {
      this.#served.cancel(notification.params);
      return;
    }
    origin?.onNotification(notification);
    this.#listeners.notification(notification);
  }

  #notifyIn(scope: RequestScope | undefined, method: string, params: JsonObject | undefined): void {
    const message = params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
    this.#post(JSON.stringify(message), method, scope);
  }

  /** Posts a message and forgets it. */
  #post(body: string, operation: string, scope: RequestScope | undefined = this.#sessions.newest): void {
    if (scope === undefined || this.#isClosed) return;
    postMessage(this.sideEndpoint(), scope, { body, operation, limits: this.#sideLimits() }).catch(() => {
      // Of notifications nothing depends on whether they arrive.
      if (operation !== "POST") return;
      this.report({ kind: "server_request", message: "An answer to a request of the server could not be delivered." });
    });
  }

  #sideLimits(): LifetimeLimits {
    return this.#config.lifecycleDeadlines;
  }

  sideEndpoint(): HttpEndpoint {
    if (this.#side !== undefined) return this.#side;
    const { url, transport, authorize } = this.#config;
    const maxConcurrentRequests = Math.max(SIDE_REQUESTS, transport.maxConcurrentRequests) + 1;
    this.#side = new HttpEndpoint(url, { ...transport, maxConcurrentRequests }, authorize);
    return this.#side;
  }
}

const UNKNOWN: ServerIntroduction = {
  revision: "2025-03-26",
  capabilities: {},
  serverInfo: undefined,
  instructions: undefined,
};
