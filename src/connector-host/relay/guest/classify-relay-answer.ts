import { RemoteConnectorError } from "../../../errors.js";
import { decodeHeaderValue, plainText } from "../../../protocol/index.js";
import type { ResponseHeaders } from "../../../transport/index.js";
import { RELAY_REASONS, RelayHeader, type RelayReason } from "../wire.js";

/** What the head of an answer says. `failed`: there is no answer of the gateway, and `notSent` that there can't be one. */
export type RelayAnswer =
  | { readonly kind: "answered"; readonly headers: ResponseHeaders }
  | { readonly kind: "failed"; readonly notSent: boolean; readonly error: RemoteConnectorError };

/** The headers of the gateway that mean something to a client, when it is the relay that says them. */
const PASSED = ["content-encoding", "content-type", "retry-after"] as const;

/**
 * Judges the head of what answered at the relay's address. Pure; never throws.
 *
 * What says nothing of an outcome was not written by a relay: whatever stands between, it may have handed the request on
 * before, so that its answer is `unknown`, whatever its status.
 */
export function classifyRelayAnswer(origin: string, status: number, headers: ResponseHeaders): RelayAnswer {
  const outcome = headers[RelayHeader.outcome];
  if (outcome === "answered") return { kind: "answered", headers: passedOf(headers) };
  if (outcome !== "not_sent" && outcome !== "unknown") {
    return { kind: "failed", notSent: false, error: foreignAnswer(status, headers) };
  }
  const reason = reasonOf(headers[RelayHeader.reason]);
  const detail = detailOf(headers[RelayHeader.detail]);
  const notSent = outcome === "not_sent";
  const error = notSent ? refusal(origin, reason, detail) : lost(origin, detail === "" ? reason : detail);
  return { kind: "failed", notSent, error };
}

function passedOf(headers: ResponseHeaders): ResponseHeaders {
  const passed: Record<string, string | string[]> = {};
  for (const name of PASSED) {
    const value = headers[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

function reasonOf(value: string | string[] | undefined): RelayReason | "unknown" {
  return RELAY_REASONS.find((reason) => reason === value) ?? "unknown";
}

function detailOf(value: string | string[] | undefined): string {
  return typeof value === "string" ? plainText(decodeHeaderValue(value) ?? "", 128) : "";
}

function refusal(origin: string, reason: RelayReason | "unknown", detail: string): RemoteConnectorError {
  if (reason === "unreachable") {
    const message = `The relay has no connection to the gateway: ${detail}.`;
    return new RemoteConnectorError("connect_failed", { message, details: { origin, reason: detail } });
  }
  if (reason === "account_not_ready") {
    const message = "The relay has no credentials of the account.";
    return new RemoteConnectorError("account_not_ready", { message, details: {} });
  }
  if (reason === "not_admitted") {
    const message = `The request was not admitted on the relay's other side: ${detail}.`;
    return new RemoteConnectorError("not_admitted", { message, details: { reason: detail } });
  }
  const message = `The relay made no request: ${reason}${detail === "" ? "" : ` (${detail})`}.`;
  return new RemoteConnectorError("relay_refused", { message, details: { reason, detail } });
}

function lost(origin: string, reason: string): RemoteConnectorError<"connection_broken"> {
  const message = `The relay sent the request, and got no answer: ${reason}.`;
  return new RemoteConnectorError("connection_broken", { message, details: { origin, reason } });
}

function foreignAnswer(status: number, headers: ResponseHeaders): RemoteConnectorError<"unexpected_answer"> {
  const type = headers["content-type"];
  const mediaType = typeof type === "string" ? plainText(type.split(";")[0] ?? "", 64).toLowerCase() : "";
  const reason = "no word of a relay in its head";
  return new RemoteConnectorError("unexpected_answer", {
    message: `What answers at the relay's address with ${String(status)} has ${reason}.`,
    details: { status, mediaType, snippet: "", reason },
  });
}
