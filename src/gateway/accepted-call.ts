import type { JsonObject } from "../protocol/index.js";
import type { HeaderFields, ModernCall, Refusal } from "../serving/index.js";
import type { CallAnswer } from "./call-answer.js";
import type { ConnectorOffer } from "./options.js";
import type { OpenUpstream } from "./upstream-pool.js";

/** One accepted request, and what belongs to it. */
export interface AcceptedCall {
  readonly call: ModernCall;
  readonly headers: HeaderFields;
  /** The body as it came, of which the arguments are cut. */
  readonly body: Uint8Array;
  readonly answer: CallAnswer;
  /** The caller's `_meta` without the members that concern the caller's own hop. */
  readonly meta: JsonObject;
  /** What callers reach of the connector beside its tools. */
  readonly offers: ReadonlySet<ConnectorOffer>;
}

/** A result's exact bytes, or a refusal. */
export type MethodOutcome = Uint8Array | Refusal;

export type UpstreamMethod = (open: OpenUpstream, accepted: AcceptedCall) => Promise<MethodOutcome>;
