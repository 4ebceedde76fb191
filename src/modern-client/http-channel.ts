import { type Delivery, type DeliveryEvidence, RemoteConnectorError } from "../errors.js";
import type { MirroredHeader, StreamEvent } from "../protocol/index.js";
import {
  type AnswerHead,
  type Authorizer,
  type HttpCall,
  type HttpCallOwner,
  HttpEndpoint,
  internalFault,
  isSuccess,
  type Lifetimes,
  NOTHING_SENT,
  streamEnded,
  type TransportConfig,
} from "../transport/index.js";
import { AnswerStream } from "./answer-stream.js";
import type {
  Channel,
  ChannelCall,
  ChannelMessage,
  ChannelPorts,
  ChannelRequest,
  MessageOwner,
  NoticeOwner,
  RequestOwner,
} from "./channel.js";
import { classifyAnswer, classifyResponse } from "./classify-answer.js";
import { encodeHeaders } from "./request-message.js";

/** Where and how messages are posted. */
export interface HttpChannelConfig {
  readonly url: URL;
  readonly transport: TransportConfig;
  readonly authorize: Authorizer | undefined;
  /** The headers that every message has, as a flat list. */
  readonly headers: readonly string[];
}

/**
 * One POST for each message. Long requests have an endpoint of their own, made with the first: their turns and connections, as
 * many as `maxConcurrentRequests`, are not those of the others.
 *
 * Source: 2026-07-28, Streamable HTTP, Sending Messages.
 */
export class HttpChannel implements Channel {
  readonly #config: HttpChannelConfig;
  readonly #ports: ChannelPorts;
  readonly #endpoint: HttpEndpoint;
  #longEndpoint: HttpEndpoint | undefined;

  constructor(config: HttpChannelConfig, ports: ChannelPorts) {
    this.#config = config;
    this.#ports = ports;
    this.#endpoint = this.#open();
  }

  get isClosed(): boolean {
    return this.#endpoint.isClosed;
  }

  get isSpent(): boolean {
    return this.isClosed;
  }

  get lifetimes(): Lifetimes {
    return this.#endpoint.lifetimes;
  }

  begin(request: ChannelRequest, owner: RequestOwner): ChannelCall {
    const headers = encodeHeaders(this.#config.headers, request, request.mirrored);
    return new PostedRequest(this.#config.url, request, owner, this.#ports).start(this.#endpointOf(request), headers);
  }

  notify(notice: ChannelMessage, owner: NoticeOwner): ChannelCall {
    const headers = encodeHeaders(this.#config.headers, { method: notice.method, name: undefined }, NO_HEADERS);
    return new PostedNotice(this.#config.url, notice, owner).start(this.#endpoint, headers);
  }

  async close(): Promise<void> {
    await Promise.all([this.#longEndpoint?.close(), this.#endpoint.close()]);
  }

  #endpointOf({ isLong }: ChannelRequest): HttpEndpoint {
    // After the end the one endpoint refuses for both.
    if (!isLong || this.isClosed) return this.#endpoint;
    return (this.#longEndpoint ??= this.#open());
  }

  #open(): HttpEndpoint {
    const { url, transport, authorize } = this.#config;
    return new HttpEndpoint(url, transport, authorize);
  }
}

/** One POST, for the channel and the transport between which it stands. */
abstract class Posted<M extends ChannelMessage, O extends MessageOwner> implements ChannelCall, HttpCallOwner {
  protected readonly url: URL;
  protected readonly message: M;
  protected readonly owner: O;
  protected http: HttpCall | undefined;

  constructor(url: URL, message: M, owner: O) {
    this.url = url;
    this.message = message;
    this.owner = owner;
  }

  cancel(): void {
    this.http?.cancel(
      new RemoteConnectorError("cancelled", {
        message: "The request is over.",
        details: { reason: "no longer wanted" },
      }),
    );
  }

  drop(): void {
    this.cancel();
  }

  evidence(): DeliveryEvidence {
    return this.http?.evidence() ?? NOTHING_SENT;
  }

  onStreamEnd(evidence: DeliveryEvidence): void {
    this.owner.onFailure(streamEnded(evidence), false);
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    this.owner.onFailure(error, noConnection);
  }

  onAbort(reason: unknown, delivery: Delivery): void {
    this.owner.onAbort(reason, delivery);
  }

  abstract onBody(head: AnswerHead, body: Uint8Array, isWhole: boolean): void;
  abstract onEvent(event: StreamEvent): void;

  protected failInternally(cause: unknown): void {
    this.http?.finish();
    this.owner.onFailure(internalFault(cause, this.evidence()), false);
  }
}

/** A request and its answer: a body, or a stream with notifications before the response. */
class PostedRequest extends Posted<ChannelRequest, RequestOwner> {
  readonly #ports: ChannelPorts;
  #stream: AnswerStream | undefined;

  constructor(url: URL, request: ChannelRequest, owner: RequestOwner, ports: ChannelPorts) {
    super(url, request, owner);
    this.#ports = ports;
  }

  start(endpoint: HttpEndpoint, headers: string[]): this {
    const { method, body, attempt, limits, admit, maxRedirects, purpose } = this.message;
    const call = {
      method: "POST",
      operation: method,
      purpose,
      headers,
      body,
      acceptsStream: true,
      maxRedirects,
      attempt,
      limits,
      admit,
    } as const;
    this.http = endpoint.begin(call, this);
    return this;
  }

  onBody(head: AnswerHead, body: Uint8Array, isWhole: boolean): void {
    const { method, id, maxRedirects } = this.message;
    try {
      const answer = { head, body, isWhole, url: this.url, maxRedirects };
      this.owner.onVerdict(classifyAnswer(answer, method, id), body);
    } catch (error) {
      this.failInternally(error);
    }
  }

  onEvent(event: StreamEvent): void {
    const { method, id } = this.message;
    try {
      this.#stream ??= new AnswerStream(id, this.owner, this.#ports);
      const message = this.#stream.read(event);
      if (message === undefined) return;
      this.http?.finish();
      this.owner.onVerdict(classifyResponse(message, method, id, STREAM_HEAD), event.data);
    } catch (error) {
      this.failInternally(error);
    }
  }
}

/** A notification: any success will do, and what its body says is of no interest. Source: 2026-07-28, Streamable HTTP. */
class PostedNotice extends Posted<ChannelMessage, NoticeOwner> {
  start(endpoint: HttpEndpoint, headers: string[]): this {
    const { method, body, attempt, limits, admit, purpose } = this.message;
    const call = {
      method: "POST",
      operation: method,
      purpose,
      headers,
      body,
      acceptsStream: false,
      discardsBody: true,
      attempt,
      limits,
      admit,
    } as const;
    this.http = endpoint.begin(call, this);
    return this;
  }

  onBody(head: AnswerHead, body: Uint8Array, isWhole: boolean): void {
    try {
      if (isSuccess(head.status)) {
        this.owner.onTaken();
        return;
      }
      const verdict = classifyAnswer({ head, body, isWhole, url: this.url }, this.message.method, undefined);
      if (verdict.kind === "failed") this.owner.onRefusal(verdict.error);
    } catch (error) {
      this.failInternally(error);
    }
  }

  /** Never called: its body is not read. */
  onEvent(): void {}
}

const NO_HEADERS: readonly MirroredHeader[] = [];

const STREAM_HEAD: AnswerHead = { status: 200, mediaType: "text/event-stream", headers: {} };
