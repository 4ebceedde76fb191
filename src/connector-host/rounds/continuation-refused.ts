import { type Delivery, RemoteConnectorError } from "../../errors.js";

type Reason = "unknown" | "mismatch" | "used" | "expired" | "restarted";

const TEXTS: Readonly<Record<Reason, string>> = {
  unknown: "No request waits that this state goes on with.",
  mismatch: "This state was given for another request, or to another agent.",
  used: "Something went on with this state already.",
  expired: "The request that this state goes on with waited too long, and was ended.",
  restarted: "The host was restarted since it gave this state. The request was not made again.",
};

/** `delivery`: whether what the request would have gone on with may have acted. The request itself was not sent. */
export function continuationRefused(reason: Reason, delivery: Delivery): RemoteConnectorError<"continuation_refused"> {
  return new RemoteConnectorError("continuation_refused", { message: TEXTS[reason], delivery, details: { reason } });
}
