import type { RemoteConnectorError } from "../../errors.js";
import {
  type AnswerHead,
  type HttpCall,
  type HttpCallOwner,
  type HttpCallRequest,
  type HttpEndpoint,
  isSuccess,
  type LifetimeLimits,
  Settlement,
} from "../../transport/index.js";
import { refusalOf } from "./classify-http-answer.js";
import type { RequestScope } from "./session.js";

/** A message that no response answers: a notification, or a response of ours. */
export interface OutgoingMessage {
  readonly body: string;
  /** What the authorizer is told. */
  readonly operation: string;
  /** What it is part of, for who authorizes it. Default: nothing else. */
  readonly purpose?: object | undefined;
  readonly limits: LifetimeLimits;
}

/**
 * Posts a message in a session. Resolves as soon as the server has taken it: with any 2xx, whatever the body.
 *
 * It is sent once more when no connection could be made. Rejects with `unexpected_answer`, `peer_error`, `redirect_refused`,
 * and what any exchange can end with. Source: 2025-11-25, Transports, Sending Messages to the Server.
 */
export function postMessage(endpoint: HttpEndpoint, scope: RequestScope, message: OutgoingMessage): Promise<void> {
  const { body, operation, purpose = {}, limits } = message;
  return send(endpoint, () => {
    const headers = [...scope.postHeaders];
    return { method: "POST", operation, purpose, headers, body, acceptsStream: true, attempt: 1, limits };
  });
}

/** Ends a session. Any answer at all is one; resolves also when none comes. Source: 2025-11-25, Session Management. */
export async function deleteSession(
  endpoint: HttpEndpoint,
  scope: RequestScope,
  limits: LifetimeLimits,
): Promise<void> {
  const purpose = {};
  try {
    await send(endpoint, () => {
      const headers = [...scope.getHeaders];
      const method = "DELETE";
      return { method, operation: method, purpose, headers, body: null, acceptsStream: false, attempt: 1, limits };
    });
  } catch {
    // The session ends by itself.
  }
}

function send(endpoint: HttpEndpoint, request: () => HttpCallRequest): Promise<void> {
  const message = new SentMessage(endpoint, request);
  message.send();
  return message.promise;
}

class SentMessage implements HttpCallOwner {
  readonly #endpoint: HttpEndpoint;
  readonly #request: () => HttpCallRequest;
  readonly #settlement = new Settlement<void>();
  #http: HttpCall | undefined;
  #sends = 0;

  constructor(endpoint: HttpEndpoint, request: () => HttpCallRequest) {
    this.#endpoint = endpoint;
    this.#request = request;
  }

  get promise(): Promise<void> {
    return this.#settlement.promise;
  }

  send(): void {
    this.#sends += 1;
    this.#http = this.#endpoint.begin(this.#request(), this);
  }

  onHead({ status }: AnswerHead): void {
    if (!isSuccess(status)) return;
    // Its body says nothing to us, and may never end.
    this.#http?.finish();
    this.#settlement.resolve();
  }

  onEvent(): void {
    this.#http?.finish();
  }

  onBody(head: AnswerHead, body: Uint8Array, isWhole: boolean): void {
    if (isSuccess(head.status)) this.#settlement.resolve();
    else this.#settlement.fail(refusalOf({ head, body, isWhole, url: this.#endpoint.url }));
  }

  onStreamEnd(): void {
    this.#settlement.resolve();
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    if (noConnection && this.#sends === 1 && !this.#endpoint.isClosed) this.send();
    else this.#settlement.fail(error);
  }

  onAbort(...[reason, delivery]: Parameters<HttpCallOwner["onAbort"]>): void {
    this.#settlement.abort(reason, delivery);
  }
}
