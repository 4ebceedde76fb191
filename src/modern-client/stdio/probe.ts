import type { RemoteConnectorError } from "../../errors.js";
import type { ProbeOutcome } from "../../protocol/index.js";
import { type Clock, type Lifetimes, RequestSlots } from "../../transport/index.js";
import type { RequestOwner } from "../channel.js";
import type { AnswerVerdict } from "../classify-answer.js";
import { encodeMeta, type ClientMeta } from "../request-meta.js";
import { encodeBody, prepareRequest } from "../request-message.js";
import { failedProbe, readProbe } from "./probe-verdict.js";
import type { ServerProcess } from "./server-process.js";
import type { MessageHost, StdioMessage } from "./stdio-message.js";
import { StdioRequest } from "./stdio-request.js";

export interface ProbePlan {
  readonly id: number;
  readonly meta: ClientMeta;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
}

/** Asks a fresh process what it speaks. Never rejects. Source: 2026-07-28, stdio, Backward Compatibility. */
export function probe(process: ServerProcess, plan: ProbePlan): Promise<ProbeOutcome> {
  return new Promise((resolve) => {
    const request = prepareRequest("server/discover");
    const message = {
      method: request.method,
      id: plan.id,
      name: undefined,
      mirrored: [],
      body: encodeBody(request, plan.id, encodeMeta(plan.meta, {})),
      isLong: true,
      attempt: 1,
      limits: { connectTimeoutMs: Infinity, idleTimeoutMs: Infinity, totalTimeoutMs: plan.timeoutMs },
      admit: undefined,
    };
    new StdioRequest(message, new ProbeOwner(resolve), new ProbeHost(process, plan)).start();
  });
}

class ProbeOwner implements RequestOwner {
  readonly #resolve: (outcome: ProbeOutcome) => void;

  constructor(resolve: (outcome: ProbeOutcome) => void) {
    this.#resolve = resolve;
  }

  onVerdict(verdict: AnswerVerdict): void {
    this.#resolve(readProbe(verdict));
  }

  onFailure(error: RemoteConnectorError): void {
    this.#resolve(failedProbe(error));
  }

  onAbort(reason: unknown): void {
    this.#resolve(failedProbe(reason));
  }

  onNotification(): void {}

  note(): void {}
}

/** Between the one request and the one process. What is silent is ended, and not told before. */
class ProbeHost implements MessageHost {
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
  readonly slots = new RequestSlots({ maxConcurrentRequests: 1, maxQueuedRequests: 0 });
  readonly #process: ServerProcess;

  constructor(process: ServerProcess, { clock, lifetimes }: ProbePlan) {
    this.#process = process;
    this.clock = clock;
    this.lifetimes = lifetimes;
  }

  onTurn(message: StdioMessage): void {
    if (!this.#process.send(message)) this.#process.strand(message);
  }

  onSending(message: StdioMessage): void {
    this.#process.onSending(message);
  }

  onSendFailed(_message: StdioMessage, cause: Error): void {
    this.#process.onSendFailed(cause);
  }

  onEnded(message: StdioMessage): void {
    this.#process.forget(message, false);
  }

  holdup(): undefined {
    return undefined;
  }
}
