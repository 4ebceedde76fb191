import type { Delivery, RemoteConnectorError } from "../errors.js";
import { type Diagnostic, MODERN_REVISION } from "../protocol/index.js";
import {
  type CallTelemetry,
  type ExchangeTelemetry,
  resultOfAbort,
  resultOfAnswer,
  resultOfError,
} from "../transport/index.js";
import type { RequestOwner } from "./channel.js";
import type { AnswerVerdict } from "./classify-answer.js";
import type { OutgoingRequest } from "./request-message.js";

/** Begins to tell of an exchange, when anyone is told. */
export function tellOf(
  telemetry: CallTelemetry | undefined,
  { method, name }: OutgoingRequest,
  id: number,
  attempt: number,
): ExchangeTelemetry | undefined {
  return telemetry?.begin({ method, name, id, attempt, protocolVersion: MODERN_REVISION });
}

/** The owner of a request that is told of, when anyone is: its end is told before the owner hears of it. */
export function toldOwner(owner: RequestOwner, telemetry: ExchangeTelemetry | undefined): RequestOwner {
  return telemetry === undefined ? owner : new ToldOwner(owner, telemetry);
}

class ToldOwner implements RequestOwner {
  readonly #owner: RequestOwner;
  readonly #telemetry: ExchangeTelemetry;

  constructor(owner: RequestOwner, telemetry: ExchangeTelemetry) {
    this.#owner = owner;
    this.#telemetry = telemetry;
  }

  onNotification(method: string, params: unknown, size: number): void {
    this.#owner.onNotification(method, params, size);
  }

  onVerdict(verdict: AnswerVerdict, message: Uint8Array | string): void {
    this.#telemetry.end(verdict.kind === "failed" ? resultOfError(verdict.error) : resultOfAnswer(verdict.result));
    this.#owner.onVerdict(verdict, message);
  }

  onFailure(error: RemoteConnectorError, noConnection: boolean): void {
    this.#telemetry.end(resultOfError(error));
    this.#owner.onFailure(error, noConnection);
  }

  onAbort(reason: unknown, delivery: Delivery): void {
    this.#telemetry.end(resultOfAbort(delivery));
    this.#owner.onAbort(reason, delivery);
  }

  note(diagnostic: Diagnostic): void {
    this.#owner.note(diagnostic);
  }
}
