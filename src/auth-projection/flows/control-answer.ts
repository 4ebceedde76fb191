import { isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";
import { isJsonObject, plainText } from "../../protocol/index.js";
import { deliveryByStatus, hintsOf, type HttpAnswer, isSuccess, type ResponseHeaders } from "../../transport/index.js";
import { redirectRefused } from "../snapshot-answer.js";
import { readCode } from "./parse-session.js";

const MAX_MESSAGE_CHARACTERS = 512;

/**
 * Checks the status of an answer of the control plane. `secret`: what was sent, if it was one. A refusal may repeat it anywhere:
 * its message and most headers are left out then.
 *
 * Throws `account_not_ready` for 401, and for a 403 that says nothing more; `redirect_refused` for any 3xx; and
 * `control_plane_error` for every other status that is no success. Delivery follows the status.
 */
export function checkControlAnswer(answer: HttpAnswer, secret?: Uint8Array): void {
  const { status } = answer;
  if (isSuccess(status)) return;
  const headers = secret === undefined ? answer.headers : onlyWhen(answer.headers, secret);
  if (status >= 300 && status < 400) throw redirectRefused(status, headers);
  const delivery = deliveryByStatus(status);
  const said = readRefusal(answer, secret);
  if (status === 401 || (status === 403 && said.controlCode === undefined)) {
    throw new RemoteConnectorError("account_not_ready", {
      message: `The control plane refused the account's credentials with ${String(status)}.`,
      delivery,
      details: { status },
    });
  }
  throw new RemoteConnectorError("control_plane_error", {
    message: `The control plane refused the request with ${String(status)}.`,
    delivery,
    details: { status, ...said, ...hintsOf(headers) },
  });
}

/** The JSON value of a body; `undefined` for what is none. Total. */
export function jsonOf({ body }: HttpAnswer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** A text of an answer as it may be shown: `undefined` if it holds the secret that was sent. */
export function withoutSecret(text: string | undefined, secret: Uint8Array): string | undefined {
  if (text === undefined) return undefined;
  const { buffer, byteOffset, byteLength } = secret;
  return Buffer.from(text).includes(Buffer.from(buffer, byteOffset, byteLength)) ? undefined : text;
}

/** What the transport rejected the sending of a secret with: an answer that nobody could read may have it in its headers. */
export function withoutHeaders(error: unknown): unknown {
  if (!isRemoteConnectorError(error, "unexpected_answer")) return error;
  const { message, delivery, details } = error;
  const { status, reason } = details;
  return new RemoteConnectorError("unexpected_answer", {
    message,
    delivery,
    details: { status, mediaType: "", snippet: "", reason },
  });
}

const SECONDS = /^[0-9]{1,9}$/;

/** Of the headers, those that can't repeat a secret: when to come back, in seconds. */
function onlyWhen({ "retry-after": retryAfter }: ResponseHeaders, secret: Uint8Array): ResponseHeaders {
  if (typeof retryAfter !== "string" || !SECONDS.test(retryAfter)) return {};
  return withoutSecret(retryAfter, secret) === undefined ? {} : { "retry-after": retryAfter };
}

/** `{"code","message","retryable"}`, each if it is there and can be used. */
function readRefusal(answer: HttpAnswer, secret: Uint8Array | undefined) {
  const value = jsonOf(answer);
  const { code, message, retryable } = isJsonObject(value) ? value : {};
  const controlCode = readCode(code);
  return {
    controlCode: secret === undefined ? controlCode : withoutSecret(controlCode, secret),
    // A secret can be in there in more forms than can be looked for.
    controlMessage:
      secret === undefined && typeof message === "string" ? plainText(message, MAX_MESSAGE_CHARACTERS) : undefined,
    retryable: typeof retryable === "boolean" ? retryable : undefined,
  };
}
