import type { RemoteConnectorError } from "../../errors.js";
import { type Diagnostic, type JsonObject, MessageChannel, type Notification } from "../../protocol/index.js";
import { closedError, type HttpCall, type HttpCallOwner, HttpEndpoint, NOTHING_SENT } from "../../transport/index.js";
import { ClientListeners } from "../client-listeners.js";
import type { CallSpec, LegacyConnection } from "../connection.js";
import type { ServerIntroduction } from "../initialize.js";
import { negotiate } from "../negotiate.js";
import { type CallHost, type OpenCall, PendingCall } from "../pending-call.js";
import { holdCalls, ServerRequests } from "../server-requests.js";
import { refusalOf } from "./classify-http-answer.js";
import { postMessage } from "./post-message.js";
import { POST_HEADERS, type RequestScope } from "./session.js";
import type { LegacySSEConfig } from "./sse-options.js";
import { messagesIn } from "./split-batch.js";
import { SseStream } from "./sse-stream.js";
import { streamAuthorizer } from "./stream-authorizer.js";

/** How many messages beside calls may be on their way at once, whatever calls may. */
const SIDE_REQUESTS = 16;

/**
 * One conversation with one server of the oldest transport: a stream that brings everything, and a place to post to.
 *
 * What answers a POST only says whether it was taken. The stream can't be taken up again: its end is that of all calls, and of
 * the conversation.
 *
 * Source: 2024-11-05, Transports, HTTP with SSE.
 */
export class SseConnection implements LegacyConnection {
  readonly #config: LegacySSEConfig;
  readonly #channel = new MessageChannel<OpenCall>();
  readonly #calls = new Set<OpenCall>();
  readonly #host: CallHost;
  readonly #served: ServerRequests;
  readonly #listeners: ClientListeners;
  readonly #listening: HttpEndpoint;
  readonly #stream: SseStream;
  /** Where calls are posted, and everything else, which never waits for them. */
  #posting: HttpEndpoint | undefined;
  #side: HttpEndpoint | undefined;
  /** What all requests are part of until the conversation is open, for who authorizes them. */
  #opening: object | undefined = {};
  #introduction: ServerIntroduction | undefined;
  /** Makes the error of every call from the end on; `undefined` until then. */
  #end: (() => RemoteConnectorError) | undefined;
  /** The error of the conversation's end. Never rejects. */
  readonly ended: Promise<RemoteConnectorError>;
  #resolveEnded: (error: RemoteConnectorError) => void = ignore;

  constructor(config: LegacySSEConfig) {
    this.#config = config;
    this.#listeners = new ClientListeners(config);
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    this.#listening = new HttpEndpoint(config.url, config.transport, config.authorize);
    this.#host = {
      lifetimes: this.#listening.lifetimes,
      now: () => config.clock.now(),
      onSending: (call) => this.#channel.open(call.id, call),
      onSettled: (call) => this.#forget(call),
      onSendFailed: (call, cause) => call.fail("connection_broken", cause.message, this.#broken(cause.message)),
      cancelRequest: (requestId) =>
        this.notify("notifications/cancelled", {
          requestId,
          reason: "The answer is no longer needed.",
        }),
      report: (diagnostic) => this.report(diagnostic),
      telemetry: config.telemetry,
      revision: () => this.#introduction?.revision,
    };
    const sendResponse = (text: string): void => this.#post(text, "POST");
    const served = {
      sendResponse,
      onServing: (isServing: boolean) => holdCalls(this.#calls, isServing),
      serverInfo: () => this.#introduction?.serverInfo,
    };
    this.#served = new ServerRequests(served, config.answerer);
    this.#stream = new SseStream(this.#listening, config.transport, {
      receive: (value, data) => this.#hear(value, data),
      onEnd: (error) => this.#finish(() => error),
    });
  }

  /** Opens the stream and initializes the server. `onSent` is told whose delivery verdict is that of a rejection. */
  async open(onSent: (sent: Promise<unknown>) => void): Promise<void> {
    const { lifecycleDeadlines: limits, signal, headers, transport } = this.#config;
    const authorize = streamAuthorizer(this.#config.authorize, this.#config.url);
    const purpose = this.#opening;
    const opened = this.#stream.open(headers, { ...limits, signal }, purpose);
    onSent(opened);
    const url = await opened;
    this.#posting = new HttpEndpoint(url, transport, authorize);
    const maxConcurrentRequests = Math.max(SIDE_REQUESTS, transport.maxConcurrentRequests);
    this.#side = new HttpEndpoint(url, { ...transport, maxConcurrentRequests }, authorize);
    this.#introduction = await negotiate(this, this.#config, onSent);
    const scope = this.#scope();
    const operation = "notifications/initialized";
    const message = { body: INITIALIZED, operation, purpose, limits: { ...limits, signal } };
    const taken = postMessage(this.#side, scope, message);
    onSent(taken);
    await taken;
    this.#opening = undefined;
  }

  get introduction(): ServerIntroduction {
    return this.#introduction ?? UNKNOWN;
  }

  refusal(): RemoteConnectorError | undefined {
    return this.#end?.().withEvidence("not_sent", NOTHING_SENT);
  }

  call<T>(spec: CallSpec<T>): Promise<T> {
    const call = new PendingCall<T>(this.#channel.takeId(), spec, this.#host);
    if (!call.begin()) return call.promise;
    this.#calls.add(call);
    if (this.#served.isServing) call.hold();
    if (this.#end !== undefined || this.#posting === undefined) call.failWith(this.#end?.() ?? closedError());
    else new Posting(this.#posting, this.#scope(), call, spec, this.#opening ?? {}).send();
    return call.promise;
  }

  notify(method: string, params?: JsonObject): void {
    this.#post(
      JSON.stringify(params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params }),
      method,
    );
  }

  report(diagnostic: Diagnostic): void {
    this.#config.onDiagnostic(diagnostic);
  }

  async close(): Promise<void> {
    this.#finish(closedError);
    this.#stream.close();
    await Promise.all([this.#listening.close(), this.#posting?.close(), this.#side?.close()]);
  }

  #hear(value: unknown, data: string): void {
    for (const { value: one, message } of messagesIn(value, data, this.introduction.revision === "2025-03-26")) {
      this.#receive(one, typeof message === "string" ? Buffer.from(message) : message);
    }
  }

  #receive(value: unknown, message: Uint8Array): void {
    const reception = this.#channel.receive(value);
    for (const call of this.#calls) call.touch();
    switch (reception.kind) {
      case "answer":
        reception.request.onAnswer(reception.answer, message, reception.diagnostic);
        return;
      case "progress":
        reception.request.onProgress(reception.progress);
        return;
      case "notification":
        this.#deliver(reception.notification);
        return;
      case "server_request":
        this.#served.receive(reception);
        return;
      case "ignored":
        this.#listeners.ignored(reception.diagnostic);
    }
  }

  #deliver(notification: Notification): void {
    if (notification.method === "notifications/cancelled") {
      this.#served.cancel(notification.params);
      return;
    }
    // A copy: a handler may make calls, which this notification came too early for.
    for (const call of Array.from(this.#calls)) call.onNotification(notification);
    this.#listeners.notification(notification);
  }

  #forget(call: OpenCall): void {
    this.#calls.delete(call);
    this.#channel.close(call.id);
  }

  #finish(end: () => RemoteConnectorError): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#served.cancelAll();
    for (const call of this.#calls) call.failWith(end());
    this.#resolveEnded(end());
  }

  /** Posts a message and forgets it. */
  #post(body: string, operation: string): void {
    if (this.#end !== undefined || this.#side === undefined) return;
    const { lifecycleDeadlines: limits } = this.#config;
    postMessage(this.#side, this.#scope(), { body, operation, limits }).catch(() => {
      // Of notifications nothing depends on whether they arrive.
      if (operation !== "POST") return;
      this.report({
        kind: "server_request",
        message: "An answer to a request of the server could not be delivered.",
      });
    });
  }

  /** The version header came with later revisions, which some of these servers speak. */
  #scope(): RequestScope {
    const { headers } = this.#config;
    const version = this.#introduction === undefined ? [] : ["MCP-Protocol-Version", this.#introduction.revision];
    const postHeaders = [...POST_HEADERS, ...version, ...headers];
    return { generation: 1, id: undefined, postHeaders, getHeaders: headers, takesBatches: false };
  }

  #broken(reason: string): { readonly origin: string; readonly reason: string } {
    return { origin: this.#config.url.origin, reason };
  }
}

/** A call by what posting it takes. */
type PostedCall = OpenCall & Pick<PendingCall<unknown>, "line" | "promise" | "putOff" | "takeUp">;

/** The POST of one call, which ends with it. */
class Posting implements HttpCallOwner {
  readonly #endpoint: HttpEndpoint;
  readonly #scope: RequestScope;
  readonly #call: PostedCall;
  readonly #spec: Pick<CallSpec<unknown>, "isSentOnce" | "method">;
  readonly #purpose: object;
  #http: HttpCall | undefined;
  #sends = 0;
  #isTaken = false;

  constructor(
    endpoint: HttpEndpoint,
    scope: RequestScope,
    call: PostedCall,
    spec: Pick<CallSpec<unknown>, "isSentOnce" | "method">,
    purpose: object,
  ) {
    this.#endpoint = endpoint;
    this.#scope = scope;
    this.#call = call;
    this.#spec = spec;
    this.#purpose = purpose;
  }

  send(): void {
    this.#sends += 1;
    this.#http = this.#endpoint.begin(
      {
        method: "POST",
        operation: this.#spec.method,
        purpose: this.#purpose,
        headers: [...this.#scope.postHeaders],
        body: this.#call.line,
        acceptsStream: true,
        maxRedirects: this.#maxRedirects,
        attempt: this.#sends,
        // The call's own are watched by the call.
        limits: { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: Infinity },
        admit: () => (this.#call.take() === undefined ? "the call is over" : undefined),
      },
      this,
    );
    if (this.#sends === 1) this.#call.promise.then(this.#drop, this.#drop);
  }

  onAsking(): void {
    this.#call.putOff();
  }

  onAgain(): void {
    this.#call.takeUp();
  }

  onHead({ status }: { readonly status: number }): void {
    if (status < 200 || status >= 300) return;
    this.#isTaken = true;
    this.#http?.finish();
  }

  onEvent(): void {
    // Answers come on the other stream.
  }

  onBody(...[head, body, isWhole]: Parameters<HttpCallOwner["onBody"]>): void {
    if (head.status >= 200 && head.status < 300) return;
    this.#call.refuse(refusalOf({ head, body, isWhole, url: this.#endpoint.url, maxRedirects: this.#maxRedirects }));
  }

  onStreamEnd(): void {
    // It was taken.
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    const canSendAgain = this.#sends === 1 && this.#spec.isSentOnce !== true && !this.#endpoint.isClosed;
    if (noConnection && canSendAgain) this.send();
    else this.#call.failWith(error);
  }

  onAbort(): void {
    // It has no signal.
  }

  /** Following a redirect sends the message again. */
  get #maxRedirects(): number | undefined {
    return this.#spec.isSentOnce === true ? 0 : undefined;
  }

  readonly #drop = (): void => {
    if (!this.#isTaken) this.#http?.cancel(closedError());
  };
}

const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

const UNKNOWN: ServerIntroduction = {
  revision: "2024-11-05",
  capabilities: {},
  serverInfo: undefined,
  instructions: undefined,
};

function ignore(): void {
  // There is nobody who wants to know.
}
