import type { Delivery, DeliveryEvidence, RemoteConnectorError } from "../../errors.js";
import {
  classifyMessage,
  type Diagnostic,
  parseJson,
  type PeerErrorContext,
  type StreamEvent,
} from "../../protocol/index.js";
import {
  type AnswerHead,
  bodyText,
  closedError,
  type HttpCall,
  type HttpCallOwner,
  type HttpCallRequest,
  type HttpEndpoint,
  isSuccess,
  NOTHING_SENT,
  streamEnded,
  type WholeAnswer,
} from "../../transport/index.js";
import { classifyHttpAnswer, type NoResponse, refusalOf } from "./classify-http-answer.js";
import { isSessionLoss, type RequestScope } from "./session.js";
import type { BoundCall, OpenSessionCall, SessionCallHost } from "./session-call-ports.js";
import { messagesIn } from "./split-batch.js";
import type { StreamResumption } from "./stream-resumption.js";

/** The call of an exchange. */
export interface SessionExchangeOwner extends OpenSessionCall {
  readonly requestId: number;
  /** How many redirects its POST follows; the transport's default when `undefined`. */
  readonly maxRedirects: number | undefined;
  /** Nothing counts any more. */
  readonly isOver: boolean;
  readonly stream: StreamResumption;
  note(diagnostic: Diagnostic): void;
  /** The session is not known any more. False when nothing is done about that: then it is an answer like others. */
  onSessionLost(answer: WholeAnswer): boolean;
  /** A POST was answered with what is no message. */
  onNoResponse(verdict: NoResponse): void;
  /** Everything that an answer held was read. */
  onRead(): void;
  /** An attempt to take the stream up again was answered, and not by a stream. */
  onNoStream(refusal: RemoteConnectorError): void;
  /** The stream is over, or `refusedWith` is the status in its place. */
  onStreamOver(error: RemoteConnectorError, refusedWith?: number): void;
  onExchangeFailed(error: RemoteConnectorError, noConnection: boolean): void;
  onAborted(reason: unknown, delivery: Delivery): void;
  /** Something threw that never should. */
  onFault(cause: unknown): void;
}

/** One exchange of a call: reads what comes on it, and hands on what that means. */
export class SessionExchange implements HttpCallOwner {
  readonly #host: SessionCallHost;
  readonly #owner: SessionExchangeOwner;
  readonly #scope: RequestScope;
  readonly #bound: BoundCall | undefined;
  #http: HttpCall | undefined;
  #context: PeerErrorContext | undefined;
  #isReading = false;
  #isLeft = false;

  constructor(host: SessionCallHost, owner: SessionExchangeOwner, scope: RequestScope, bound: BoundCall | undefined) {
    this.#host = host;
    this.#owner = owner;
    this.#scope = scope;
    this.#bound = bound;
  }

  /** Its outcome reaches the owner, at the earliest while this runs. */
  begin(endpoint: HttpEndpoint, request: HttpCallRequest): void {
    this.#http = endpoint.begin(request, this);
    if (this.#host.isServing) this.#http.holdIdle();
  }

  /** What HTTP said beside the message that is being read; `undefined` while none of this exchange is. */
  get context(): PeerErrorContext | undefined {
    return this.#context;
  }

  evidence(): DeliveryEvidence {
    return this.#http?.evidence() ?? NOTHING_SENT;
  }

  hold(): void {
    this.#http?.holdIdle();
  }

  release(): void {
    this.#http?.releaseIdle();
  }

  /** What is left of an exchange whose answer is read is read to its end; one that is not needed any more is dropped. */
  leave(): void {
    this.#http?.finish();
    if (this.#isReading) return;
    this.#isLeft = true;
    this.#http?.cancel(closedError());
  }

  onHead(head: AnswerHead): void {
    this.#bound?.onHead?.(head);
  }

  onRetry(retryMs: number): void {
    this.#owner.stream.place.retryMs = retryMs;
  }

  onEvent(event: StreamEvent): void {
    if (this.#owner.isOver) return;
    const { place } = this.#owner.stream;
    place.moveTo(event);
    const { data, unterminated } = event;
    if (data === "") return;
    const value = parseJson(data);
    // Cut data is not worth a word: the failure that follows says more.
    if (value === undefined && unterminated) return;
    if (unterminated) {
      const message = "The last event of the stream came without its blank line.";
      this.#owner.note({ kind: "unterminated_event", message });
    }
    place.bearFruit();
    this.#read(() => this.#receive(value, data));
  }

  onBody(head: AnswerHead, body: Uint8Array, isWhole: boolean): void {
    if (this.#owner.isOver) return;
    const answer = { head, body, isWhole, url: this.#host.endpoint.url, maxRedirects: this.#owner.maxRedirects };
    this.#read(() => {
      if (this.#owner.stream.hasEnded) this.#readInPlaceOfStream(answer);
      else this.#readAnswer(answer);
    });
  }

  onStreamEnd(evidence: DeliveryEvidence): void {
    if (!this.#owner.isOver) this.#owner.onStreamOver(streamEnded(evidence));
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    if (!this.#owner.isOver && !this.#isLeft) this.#owner.onExchangeFailed(error, noConnection);
  }

  onAbort(reason: unknown, delivery: Delivery): void {
    this.#owner.onAborted(reason, delivery);
  }

  #read(read: () => void): void {
    this.#isReading = true;
    try {
      read();
    } catch (error) {
      this.leave();
      this.#owner.onFault(error);
    } finally {
      this.#isReading = false;
      this.#context = undefined;
    }
  }

  #readAnswer(answer: WholeAnswer): void {
    const { status } = answer.head;
    if (!isSuccess(status)) {
      const text = bodyText(answer.body);
      this.#bound?.onRefused?.(status, text);
      if (isSessionLoss(status, text) && this.#owner.onSessionLost(answer)) return;
    }
    const verdict = classifyHttpAnswer(answer, this.#owner.requestId);
    if (verdict.kind !== "json") {
      this.#owner.onNoResponse(verdict);
      return;
    }
    this.#context = verdict.context;
    this.#receive(verdict.value, answer.body);
    this.#owner.onRead();
  }

  /** What answers a GET is that of the request only as a message with its id. */
  #readInPlaceOfStream(answer: WholeAnswer): void {
    if (!isSuccess(answer.head.status)) {
      this.#owner.onStreamOver(refusalOf(answer), answer.head.status);
      return;
    }
    const value = answer.head.mediaType === "application/json" ? parseJson(bodyText(answer.body)) : undefined;
    if (value !== undefined) this.#host.receive(value, answer.body, this.#owner);
    if (!this.#owner.isOver) this.#owner.onNoStream(refusalOf(answer));
  }

  #receive(value: unknown, message: Uint8Array | string): void {
    for (const one of messagesIn(value, message, this.#scope.takesBatches)) {
      const read = classifyMessage(one.value);
      const isResponse = read.kind === "result" || read.kind === "error";
      // An error without an id can only be meant for the request whose answer it is in.
      const isOurs = isResponse && (read.id === this.#owner.requestId || read.id === undefined);
      if (isOurs) this.#owner.onAnswer(read, one.message, undefined);
      else this.#host.receive(one.value, one.message, this.#owner);
    }
  }
}
