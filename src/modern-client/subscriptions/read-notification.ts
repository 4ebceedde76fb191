import {
  type Diagnostic,
  type DiagnosticKind,
  isJsonObject,
  type Notification,
  plainText,
} from "../../protocol/index.js";
import { subscriptionIdIn } from "../subscription-id.js";
import { isCovered, parseAcknowledged, type SubscriptionFilter } from "./subscription-filter.js";

/** What is known of a subscription while its stream is open: its id, and the filter once it is acknowledged. */
export interface OpenSubscription {
  readonly id: number;
  readonly acknowledged: SubscriptionFilter | undefined;
}

/** What a notification on a subscription's stream means. */
export type NotificationVerdict = {
  readonly diagnostic?: Diagnostic | undefined;
} & (
  | { readonly kind: "acknowledged"; readonly filter: SubscriptionFilter }
  | { readonly kind: "deliver" }
  /** The server ended the subscription. */
  | { readonly kind: "ended"; readonly reason: string | undefined }
  | { readonly kind: "skip" }
);

/**
 * Judges a notification. Pure and total.
 *
 * One of another subscription is skipped, and so is what comes before the acknowledgement; one of a kind that was not
 * acknowledged is delivered, since what it tells is true all the same. One without a subscription id is taken as ours: the stream
 * is. Source: 2026-07-28, Subscriptions.
 */
export function readNotification(
  { id, acknowledged }: OpenSubscription,
  { method, params }: Notification,
): NotificationVerdict {
  const members = isJsonObject(params) ? params : {};
  const subject = plainText(method, 128);
  if (method === "notifications/cancelled") {
    if (!isOurs(members["requestId"], id)) {
      return { kind: "skip", diagnostic: note("other_subscription", "A cancellation of another request.", subject) };
    }
    const { reason } = members;
    return { kind: "ended", reason: typeof reason === "string" ? plainText(reason, 256) : undefined };
  }
  const subscription = subscriptionIdIn(members);
  if (subscription !== undefined && !isOurs(subscription, id)) {
    return { kind: "skip", diagnostic: note("other_subscription", "A notification of another subscription.", subject) };
  }
  const idAsString =
    typeof subscription === "string"
      ? note("id_echoed_as_string", "The subscription id came back as a string.", subject)
      : undefined;
  if (method === "notifications/subscriptions/acknowledged") {
    if (acknowledged === undefined) {
      return { kind: "acknowledged", filter: parseAcknowledged(members), diagnostic: idAsString };
    }
    return { kind: "skip", diagnostic: note("acknowledged_again", "A second acknowledgement was ignored.", subject) };
  }
  if (acknowledged === undefined) {
    const message = "What came before the acknowledgement was left out.";
    return { kind: "skip", diagnostic: note("before_acknowledgement", message, subject) };
  }
  if (isCovered(method, acknowledged)) return { kind: "deliver", diagnostic: idAsString };
  const message = "A notification of a kind that was not acknowledged was passed on.";
  return { kind: "deliver", diagnostic: note("not_acknowledged", message, subject) };
}

function isOurs(value: unknown, id: number): boolean {
  return value === id || value === String(id);
}

function note(kind: DiagnosticKind, message: string, subject: string): Diagnostic {
  return { kind, message, subject };
}
