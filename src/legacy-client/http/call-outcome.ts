import type { Delivery, DeliveryEvidence, RemoteConnectorError } from "../../errors.js";
import type { Answer, Diagnostic } from "../../protocol/index.js";
import {
  internalFault,
  resultOfAbort,
  resultOfError,
  Settlement,
  type SettledListener,
} from "../../transport/index.js";
import { resultOfRead } from "../told-request.js";
import type { CallRequest } from "./call-request.js";

/** Who is told that a call is over, right before its promise settles. */
export interface CallOutcomeOwner {
  onOver(): void;
  report(diagnostic: Diagnostic): void;
}

/** How one call ends: once, by whatever comes first. Keeps what was tolerated until then. */
export class CallOutcome<T> {
  readonly diagnostics: Diagnostic[] = [];
  readonly #settlement: Settlement<T>;
  readonly #request: CallRequest;
  readonly #owner: CallOutcomeOwner;
  #isOver = false;

  constructor(request: CallRequest, owner: CallOutcomeOwner, onSettled: SettledListener | undefined) {
    this.#request = request;
    this.#owner = owner;
    this.#settlement = new Settlement(onSettled);
  }

  get promise(): Promise<T> {
    return this.#settlement.promise;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** A peer that has much to be tolerated must not fill our memory with it. */
  readonly note = (diagnostic: Diagnostic): void => {
    if (this.diagnostics.length < DIAGNOSTICS_KEPT) this.diagnostics.push(diagnostic);
    this.#owner.report(diagnostic);
  };

  /** With what was made of the answer. */
  resolve(value: T, answer: Answer): void {
    if (!this.#end()) return;
    this.#request.tell(resultOfRead(answer));
    this.#settlement.resolve(value);
  }

  abort(reason: unknown, delivery: Delivery): void {
    if (!this.#end()) return;
    this.#request.tell(resultOfAbort(delivery));
    this.#settlement.abort(reason, delivery);
  }

  fail(error: RemoteConnectorError): void {
    if (!this.#end()) return;
    this.#request.tell(resultOfError(error));
    this.#settlement.fail(error);
  }

  failInternally(cause: unknown, evidence: DeliveryEvidence): void {
    this.fail(internalFault(cause, evidence));
  }

  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#request.close();
    this.#owner.onOver();
    return true;
  }
}

const DIAGNOSTICS_KEPT = 100;
