import {
  type AnyRemoteConnectorError,
  type Delivery,
  deliveryOf,
  type ErrorCode,
  type ErrorDetails,
  isRemoteConnectorError,
  type RemoteConnectorError,
} from "../errors.js";
import { choiceOption, refuseUnknownOptions } from "../options.js";
import { deliveryBehind, plainText } from "../protocol/index.js";
import { withoutHalves } from "./cut-text.js";

/** What a model reads of a call that failed. */
export interface ProjectedFailure {
  /** Two sentences at most 1,500 characters long: what happened, and whether the tool may have run. */
  readonly text: string;
  readonly isError: true;
  /** `undefined` for a value that is no error of this package, such as a caller's own reason to abort. */
  readonly code: ErrorCode | undefined;
  /** Whether the server behind the call may have acted, which a gateway's answer can leave open. */
  readonly delivery: Delivery;
}

/** What is known of the call beside its error. */
export interface FailureOptions {
  /** What `deliveryOf` says of the call's promise: the exact verdict of a call that its caller aborted. */
  readonly delivery?: Delivery | undefined;
}

/**
 * What a model reads of a failed call: what happened in words of this package, and the verdict. Takes any value. Pure.
 *
 * A JSON-RPC error is shown with the message that the server has for it, on one line and cut; its data, an answer's body, headers,
 * addresses, paths and causes are not shown, and of a value that is no error of this package nothing is.
 *
 * Throws `invalid_options`.
 */
export function projectFailure(error: unknown, options: FailureOptions = {}): ProjectedFailure {
  refuseUnknownOptions(options, ["delivery"]);
  const isOurs = isRemoteConnectorError(error);
  const known = isOurs ? deliveryBehind(error) : (deliveryOf(error) ?? "unknown");
  const delivery = options.delivery === undefined ? known : choiceOption("delivery", options.delivery, DELIVERIES);
  const what = isOurs ? wordsFor(error) : "The call was given up before its answer.";
  const text = withoutHalves(`${what} ${VERDICTS[delivery]}`);
  return { text, isError: true, code: isOurs ? error.code : undefined, delivery };
}

const DELIVERIES = ["not_sent", "answered", "unknown"] as const;

const VERDICTS: Readonly<Record<Delivery, string>> = {
  not_sent: "Nothing was sent, so the tool did not run.",
  answered: "The server has answered, so the call is over.",
  unknown: "Whether the tool ran is not known: find out before calling it again.",
};

const NAME = 128;
const MESSAGE = 1_000;

/** What is said of each code. Of a code that is not here, only the code. */
const WORDS: { readonly [C in ErrorCode]?: (details: ErrorDetails[C]) => string } = {
  account_not_ready: () => "A person has to sign in first.",
  approval_denied: ({ reason }) => DENIALS[reason],
  approval_required: () => "The call needs a person's approval, and nobody is there to give it.",
  authorization_required: ({ connectorKey }) =>
    `A person has to authorize the connector ${quoted(connectorKey)} first.`,
  cancelled: () => "The call was ended before its answer.",
  client_identity_required: () => NOT_AUTHORIZED,
  connect_failed: () => "The server could not be reached.",
  connection_broken: () => "The connection ended before the answer.",
  continuation_refused: () => "The call can't go on from where it was: make it anew.",
  input_required: () => "The server asked for input that nobody here can give.",
  invalid_argument: ({ argument }) => `The argument ${quoted(argument)} can't be used.`,
  invalid_output: () => "The tool ran, but what it gave does not fit its own output schema.",
  invalid_tool: ({ tool }) => `The definition of the tool ${quoted(tool)} can't be used.`,
  not_permitted: () => "The tool is switched off here.",
  not_ready: ({ state }) => `The server is ${state}.`,
  oauth_discovery_failed: () => NOT_AUTHORIZED,
  oauth_invalid: () => NOT_AUTHORIZED,
  oauth_refused: () => NOT_AUTHORIZED,
  peer_error: ({ rpcCode, rpcMessage }) => `The server refused the call: ${told(rpcMessage)} (${String(rpcCode)}).`,
  process_exited: () => "The server's process ended before the answer.",
  resource_not_found: () => "The server has no resource of this URI.",
  route_unavailable: ({ connectorKey, state }) =>
    `The connector ${quoted(connectorKey)} can't take calls now: ${state}.`,
  sign_in_required: () => "A person has to sign in to the server first.",
  stream_ended: () => "The connection ended before the answer.",
  task_cancelled: () => "The task was cancelled on the server.",
  task_expired: () => "The task was not over in the time for which the server keeps it.",
  timeout: ({ limitMs }) => `Nothing came within ${String(limitMs)} ms.`,
  token_refused: () => "The server refuses the call, although somebody is signed in to it.",
  unexpected_answer: ({ status }) => `The server's answer can't be used (HTTP status ${String(status)}).`,
  unknown_tool: ({ tool }) => `There is no tool ${quoted(tool)}.`,
};

const NOT_AUTHORIZED = "The server asks for an authorization that could not be had.";

const DENIALS: Readonly<Record<ErrorDetails["approval_denied"]["reason"], string>> = {
  denied: "A person did not approve the call.",
  expired: "Nobody approved the call in time.",
  withdrawn: "The call's approval was withdrawn.",
};

function wordsFor(error: AnyRemoteConnectorError): string {
  return sayOf(error) ?? `The call failed (${error.code}).`;
}

function sayOf<C extends ErrorCode>({ code, details }: RemoteConnectorError<C>): string | undefined {
  return WORDS[code]?.(details);
}

function quoted(name: string): string {
  return JSON.stringify(plainText(name, NAME));
}

function told(message: string): string {
  const plain = plainText(message, MESSAGE).trim();
  return plain === "" ? "it does not say why" : plain;
}
