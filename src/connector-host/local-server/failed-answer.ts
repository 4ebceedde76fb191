import { type Delivery, deliveryOf, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import type { RequestId } from "../../protocol/index.js";
import { errorLine } from "../../serving/index.js";
import { describeError } from "./describe-error.js";
import type { LocalServerConfig } from "./options.js";
import type { Answer, EndReason, RequestTarget } from "./request-target.js";

/** A request that failed, and what is known of it. */
export interface FailedRequest {
  readonly id: RequestId;
  readonly era: "modern" | "legacy";
  /** The URI that the agent asked for, when it asked for a resource. */
  readonly uri?: string | undefined;
  /** What the directory rejected with. */
  readonly error: unknown;
  /** The directory's promise, by which the verdict of an abort is found. */
  readonly promise?: Promise<unknown> | undefined;
  /** The verdict on the agent's request, when it is known without asking the error. */
  readonly delivery?: Delivery | undefined;
  /** The option that set the exchange's deadline. `callTimeoutMs` when left out. */
  readonly deadlineOption?: "callTimeoutMs" | "listTimeoutMs" | undefined;
}

/**
 * The answer to a request that failed. An abort of ours is told as what it was: a deadline, or an end. Anything else that
 * is no error of this package is a defect: it is reported, and not shown.
 */
export function failedAnswer(config: LocalServerConfig, target: RequestTarget, failed: FailedRequest): Answer {
  const { status, error } = describeError(explain(config, target, failed), {
    deliveryKey: config.deliveryKey,
    era: failed.era,
    delivery: failed.delivery,
    uri: failed.uri,
  });
  return { status, body: errorLine(failed.id, error) };
}

function explain(config: LocalServerConfig, { ended }: RequestTarget, failed: FailedRequest): unknown {
  const { error, promise, deadlineOption = "callTimeoutMs" } = failed;
  if (isRemoteConnectorError(error)) return error;
  if (ended === undefined) {
    config.onFault(error);
    return error;
  }
  const delivery = (promise && deliveryOf(promise)) ?? deliveryOf(error) ?? "unknown";
  if (ended === "deadline") {
    const limitMs = config[deadlineOption];
    return new RemoteConnectorError("timeout", {
      message: `The request took longer than ${String(limitMs)} ms.`,
      delivery,
      details: { phase: "total", option: deadlineOption, limitMs },
      cause: error,
    });
  }
  return endError(ended, delivery);
}

/** A request that was ended from this side. */
export function endError(reason: EndReason, delivery: Delivery): RemoteConnectorError<"cancelled"> {
  return new RemoteConnectorError("cancelled", {
    message: "The request was ended before its answer.",
    delivery,
    details: { reason },
  });
}
