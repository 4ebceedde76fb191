import type { DeliveryEvidence, RemoteConnectorError } from "../../errors.js";
import { resumingFailed } from "./call-failures.js";
import { planResume, type ResumeConfig } from "./plan-resume.js";
import { StreamPlace } from "./stream-place.js";

/** What follows the end of a request's stream, or of an attempt to take it up again. */
export type StreamStep =
  | { readonly kind: "resume"; readonly lastEventId: string; readonly delayMs: number }
  | { readonly kind: "fail"; readonly error: RemoteConnectorError };

/** What is known when a stream ended without the response. */
export interface EndedStream {
  readonly error: RemoteConnectorError;
  readonly evidence: DeliveryEvidence;
  /** The status of the answer to the attempt that was refused. */
  readonly refusedWith?: number | undefined;
}

/** The stream of one posted request: where it stands, and how it is taken up again. */
export class StreamResumption {
  readonly place = new StreamPlace();
  readonly #config: ResumeConfig;
  /** How it first ended. Set from then on. */
  #end: RemoteConnectorError | undefined;

  constructor(config: ResumeConfig) {
    this.#config = config;
  }

  /** From now on the request is never posted again: it may have run. */
  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** The stream, or an attempt to take it up again, is over. One that can't be resumed fails as it ended. */
  after({ error, evidence, refusedWith }: EndedStream, canResume: boolean): StreamStep {
    const isFirst = this.#end === undefined;
    if (!isFirst) this.place.endAttempt();
    this.#end ??= error;
    if (isFirst && !(canResume && this.place.lastEventId !== undefined)) return { kind: "fail", error };
    const plan = planResume(this.place.end(refusedWith), this.#config);
    if (plan.kind === "resume") return plan;
    const cause = isFirst ? undefined : error;
    return { kind: "fail", error: resumingFailed(this.#end, plan.reason, evidence, cause) };
  }

  /** An attempt was answered by something that is no stream and not the response. */
  givenUp(error: RemoteConnectorError, evidence: DeliveryEvidence): RemoteConnectorError {
    return resumingFailed(this.#end ?? error, "it was answered by no stream", evidence, error);
  }
}
