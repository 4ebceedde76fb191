import { z } from "zod";
import { RemoteConnectorError } from "../../errors.js";
import type { AdminPlane } from "./admin-plane.js";
import type { Confirmations } from "./confirmations.js";
import { type Fault, faultOf, INTERNAL_FAULT } from "./faults.js";
import { ADMIN_VERBS } from "./verbs.js";

/** Bytes of one request: the arguments of a test call, written as a text in JSON, and what is around them. */
export const MAX_VERB_BYTES = 2 * 1024 * 1024;

/** One request of the admin plane, wherever it came in. */
export interface VerbRequest {
  /** A name of `ADMIN_VERBS`. */
  readonly name: string;
  /** The body, parsed. */
  readonly body: unknown;
  readonly plane: AdminPlane;
  /** Who asks people. Left out: who made the request is a person, which was made sure of before. */
  readonly confirmations?: Confirmations | undefined;
  /** Fires when whoever asked is gone. */
  readonly signal: AbortSignal;
  /** Told of what is a fault of this process. */
  readonly onFault: (error: unknown) => void;
}

export interface VerbAnswer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
}

const envelope = z.strictObject({ params: z.unknown(), confirmation: z.string().max(64).optional() });

/** Does what is asked for, if the request is one and a person stands behind what needs one. Never rejects. */
export async function answerVerb(request: VerbRequest): Promise<VerbAnswer> {
  try {
    return await answer(request);
  } catch (error) {
    const fault = faultOf(error);
    if (fault === undefined && !request.signal.aborted) request.onFault(error);
    return failed(fault ?? INTERNAL_FAULT);
  }
}

async function answer({ name, body, plane, confirmations, signal }: VerbRequest): Promise<VerbAnswer> {
  const verb = ADMIN_VERBS.get(name);
  const { data: read } = envelope.safeParse(body);
  const prepared = read && verb?.prepare(plane, read.params);
  if (prepared === undefined) throw badBody();
  const given = read?.confirmation;
  const question = confirmations === undefined ? undefined : prepared.question();
  if (question !== undefined && confirmations !== undefined) {
    const subject = `${name}\n${prepared.text}`;
    if (given === undefined || !confirmations.take(given, subject)) {
      const confirmation = { id: confirmations.ask(subject), question };
      const fault = faultOf(terminalRequired(question)) ?? INTERNAL_FAULT;
      return { status: statusOf(fault), body: JSON.stringify({ error: fault, confirmation }) };
    }
  }
  const result = await prepared.run(signal);
  return { status: 200, body: JSON.stringify({ result: result ?? null }) };
}

/** The failure of what only a person may do, where none is. */
export function terminalRequired(action: string): RemoteConnectorError<"terminal_required"> {
  return new RemoteConnectorError("terminal_required", {
    message: `It needs a person at a terminal: ${action}`,
    details: { action },
  });
}

function badBody(): RemoteConnectorError<"invalid_argument"> {
  return new RemoteConnectorError("invalid_argument", {
    message: "The body is not what this request takes.",
    details: { argument: "body", reason: "not of this shape" },
  });
}

function failed(fault: Fault): VerbAnswer {
  return { status: statusOf(fault), body: JSON.stringify({ error: fault }) };
}

function statusOf({ code }: Fault): number {
  return STATUSES.get(code) ?? 409;
}

const STATUSES: ReadonlyMap<Fault["code"], number> = new Map([
  ["invalid_argument", 400],
  ["terminal_required", 403],
  ["unknown_connector", 404],
  ["unknown_tool", 404],
  ["internal_error", 500],
]);
