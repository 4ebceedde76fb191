import type { ServerResponse } from "node:http";
import { plainText } from "../../../protocol/index.js";
import {
  addHeaders,
  type DeadlinePhase,
  type Exchange,
  type ExchangeControl,
  type ExchangeHandler,
  type Lifetime,
  type LifetimeOwner,
  type Lifetimes,
  type ResponseHeaders,
} from "../../../transport/index.js";
import type { RelayReason } from "../wire.js";
import { sendAnswerHead, sendOutcome } from "./answer-head.js";
import type { AcceptedRequest } from "./classify-relay-request.js";
import type { Lease, LeasedCall, LeaseEnd } from "./lease.js";
import type { RelayServerConfig } from "./relay-server-options.js";

/** What the calls of a relay share. */
export interface RelayContext {
  readonly config: RelayServerConfig;
  readonly exchange: Exchange;
  readonly lifetimes: Lifetimes;
}

type State =
  /** The body comes in, or credentials are asked for. Nothing can have left. */
  | "preparing"
  | "connecting"
  /** Handed to a connection. */
  | "sent"
  /** The head of the gateway's answer was handed on. */
  | "answering"
  /** All of the answer was, or all there will be; the guest still reads. */
  | "answered"
  | "ended";

/**
 * One request of a guest, from its head to the end of its answer. Whatever ends it before the gateway's answer began is told to
 * the guest with what is known; afterwards its connection is cut, which says the same.
 */
export class RelayedCall implements ExchangeHandler, LifetimeOwner, LeasedCall {
  readonly #context: RelayContext;
  readonly #lease: Lease;
  readonly #response: ServerResponse;
  readonly #lifetime: Lifetime;
  #state: State = "preparing";
  #accepted: AcceptedRequest | undefined;
  #control: ExchangeControl | undefined;

  constructor(context: RelayContext, lease: Lease, response: ServerResponse) {
    this.#context = context;
    this.#lease = lease;
    this.#response = response;
    this.#lifetime = context.lifetimes.open(this, context.config);
    lease.add(this);
    response.on("drain", this.#onRoom).once("close", this.#onGone);
  }

  get isOver(): boolean {
    return this.#state === "ended";
  }

  /** Makes the request. Never rejects: whatever happens is told to the guest. */
  async send(accepted: AcceptedRequest, body: Uint8Array<ArrayBuffer>, url: URL): Promise<void> {
    this.#accepted = accepted;
    this.#lifetime.connecting();
    const { logins } = this.#context.config;
    const { accountId, loginGeneration } = this.#lease.terms;
    const { method, headers } = accepted;
    try {
      const authorize = logins.authorizerFor(accountId, loginGeneration);
      const credentials = await authorize({ url: url.href, method, httpMethod: "POST", attempt: 1, operation: {} });
      if (this.isOver) return;
      if (credentials === undefined) {
        this.fail(503, "account_not_ready", "no credentials");
        return;
      }
      addHeaders(headers, credentials);
    } catch (error) {
      this.fail(503, "account_not_ready", codeOf(error));
      return;
    }
    this.#state = "connecting";
    const request = { method: "POST", path: url.pathname, headers, body } as const;
    this.#context.exchange.dispatch(request, this);
  }

  onRequestStart(control: ExchangeControl): void {
    if (this.#state === "connecting" && this.#isAdmitted()) {
      this.#control = control;
      this.#state = "sent";
      this.#lifetime.established();
    } else control.abort(new Error("The request is not wanted any more."));
  }

  onResponseStart(control: ExchangeControl, status: number, headers: ResponseHeaders): void {
    if (this.#state !== "sent") return;
    this.#lifetime.touch();
    this.#state = "answering";
    if (!sendAnswerHead(this.#response, status, headers)) control.pause?.();
  }

  onResponseData(control: ExchangeControl, chunk: Uint8Array): void {
    if (this.#state !== "answering") return;
    this.#lifetime.touch();
    if (this.#response.write(chunk)) return;
    control.pause?.();
    if (this.#response.writableLength > this.#context.config.maxBufferedBytes) this.#cut();
  }

  onResponseEnd(): void {
    this.#control = undefined;
    if (this.#state !== "answering") return;
    this.#state = "answered";
    this.#response.end();
  }

  onResponseError(_control: ExchangeControl, error: Error, notSent = false): void {
    this.#control = undefined;
    if (this.#state === "answering") {
      // What came before the break is worth as much to the guest as it would be here; then its connection breaks, too.
      this.#state = "answered";
      this.#response.socket?.destroySoon();
      return;
    }
    if (notSent && this.#state === "sent") this.#state = "connecting";
    this.fail(502, this.#state === "connecting" ? "unreachable" : "broken", codeOf(error));
  }

  leaseEnded(end: LeaseEnd): void {
    this.fail(end === "closing" ? 503 : 403, end === "closing" ? "closing" : "lease_ended", end);
  }

  onDeadline(phase: DeadlinePhase): void {
    this.fail(504, "timeout", `${phase}TimeoutMs`);
  }

  /** Never called: no signal is watched here but the lease's own. */
  onAbort(): void {}

  /** Ends it. What the guest is told of the gateway's part is what is known now. */
  fail(status: number, reason: RelayReason, detail: string): void {
    if (this.#state === "ended") return;
    if (this.#state === "answering" || this.#state === "answered") {
      this.#cut();
      return;
    }
    const outcome = this.#state === "sent" ? "unknown" : "not_sent";
    this.#end();
    sendOutcome(this.#response, status, { outcome, reason, detail });
  }

  /** The last look before the first byte. Synchronous, as everything that can have changed meanwhile is. */
  #isAdmitted(): boolean {
    const { admit, logins } = this.#context.config;
    const { id, terms } = this.#lease;
    const { accountId, loginGeneration } = terms;
    const accepted = this.#accepted;
    // A lease that ends takes the call along.
    if (!this.#lease.isGood() || accepted === undefined) return false;
    if (logins.loginGeneration(accountId) === loginGeneration) {
      const { connectorKey } = accepted.leased;
      const refusal = refusalOf(() => admit({ leaseId: id, accountId, connectorKey, method: accepted.method }));
      if (refusal !== undefined) this.fail(403, "not_admitted", refusal);
    } else this.fail(403, "lease_ended", "login_ended");
    // The check is the product's code, and may have ended the lease.
    return this.#state === "connecting";
  }

  /** The guest is told by the end of its connection. */
  #cut(): void {
    this.#end();
    this.#response.destroy();
  }

  readonly #onRoom = (): void => {
    this.#lifetime.touch();
    this.#control?.resume?.();
  };

  /** The guest has it all, or has gone. */
  readonly #onGone = (): void => this.#end();

  #end(): void {
    if (this.#state === "ended") return;
    this.#state = "ended";
    this.#lifetime.close();
    this.#lease.delete(this);
    this.#response.off("drain", this.#onRoom).off("close", this.#onGone);
    const control = this.#control;
    this.#control = undefined;
    control?.abort(new Error("The guest wants no answer any more."));
  }
}

function refusalOf(admit: () => string | undefined): string | undefined {
  try {
    return admit();
  } catch {
    return "the check threw";
  }
}

/** What went wrong, without any text that could hold more than that. */
function codeOf(error: unknown): string {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  if (typeof code === "string") return plainText(code, 64);
  return "failed";
}
