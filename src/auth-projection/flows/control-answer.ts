import { RemoteConnectorError } from "../../errors.js";
import { isJsonObject, plainText } from "../../protocol/index.js";
import { deliveryByStatus, hintsOf, type HttpAnswer, isSuccess } from "../../transport/index.js";
import { redirectRefused } from "../snapshot-answer.js";
import { readCode } from "./parse-session.js";

const MAX_MESSAGE_CHARACTERS = 512;

/** How much of a refusal may be shown. */
export interface RefusalDiscretion {
  /** What was sent, if it was a secret: a refusal may repeat it, and then says only its status. */
  readonly secret?: Uint8Array | undefined;
}

/**
 * Checks the status of an answer of the control plane.
 *
 * Throws `account_not_ready` for 401, and for a 403 that says nothing more; `redirect_refused` for any 3xx; and
 * `control_plane_error` for every other status that is no success. Delivery follows the status.
 */
export function checkControlAnswer(answer: HttpAnswer, { secret }: RefusalDiscretion = {}): void {
  const { status, headers } = answer;
  if (isSuccess(status)) return;
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

/** Whether one text is in another, in bytes. */
export function holds(body: Uint8Array, part: Uint8Array): boolean {
  return viewOf(body).includes(viewOf(part));
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** `{"code","message","retryable"}`, each if it is there and can be used. */
function readRefusal(answer: HttpAnswer, secret: Uint8Array | undefined) {
  const value = jsonOf(answer);
  const { code, message, retryable } = isJsonObject(value) ? value : {};
  const repeats = secret !== undefined && holds(answer.body, secret);
  return {
    controlCode: repeats ? undefined : readCode(code),
    // A secret can be in there in more forms than can be looked for.
    controlMessage:
      secret === undefined && typeof message === "string" ? plainText(message, MAX_MESSAGE_CHARACTERS) : undefined,
    retryable: typeof retryable === "boolean" ? retryable : undefined,
  };
}
