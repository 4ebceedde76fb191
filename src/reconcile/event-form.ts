import type { TransitionEvent, TransitionFact } from "./event-facts.js";
import type { EventRow, LastError } from "./ports.js";

type Check = (value: unknown) => boolean;

/** The members of each kind of transition, all of them. */
type Form = {
  readonly [Kind in TransitionFact["kind"]]: Readonly<
    Record<Exclude<keyof Extract<TransitionFact, { kind: Kind }>, "kind">, Check>
  >;
};

const isText: Check = (value) => typeof value === "string";
const isInteger: Check = (value) => Number.isSafeInteger(value);
const isFlag: Check = (value) => typeof value === "boolean";
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isReadiness: Check = (value) => value === "ready" || value === "degraded" || value === "off";

function isError(value: unknown): value is LastError {
  return isRecord(value) && isText(value["code"]) && isText(value["message"]);
}

const OF_KEY = { scope: isText, key: isText };
const OF_GENERATION = { ...OF_KEY, generation: isInteger };

const FORM: Form = {
  planned: { ...OF_GENERATION, enabled: isFlag, identity: isText, revokes: optional(isInteger) },
  run_started: { ...OF_GENERATION, runToken: isInteger },
  observed: { ...OF_GENERATION, readiness: isReadiness },
  starting: OF_GENERATION,
  requeued: { ...OF_GENERATION, nextAttemptAt: isInteger },
  terminal: { ...OF_GENERATION, reason: isText },
  failed: {
    ...OF_GENERATION,
    error: isError,
    counts: isFlag,
    attempts: isInteger,
    parked: isFlag,
    nextAttemptAt: isInteger,
  },
  lost: { ...OF_GENERATION, error: optional(isError) },
  removed: OF_KEY,
};

/** A transition as it is kept. */
export function encodeTransition(fact: TransitionFact): string {
  return JSON.stringify(fact);
}

/**
 * What {@link encodeTransition} was given, with its place. `undefined` for a row that is none of ours, such as that of a kind
 * that this version doesn't know.
 */
export function decodeTransition({ seq, at, fact }: EventRow): TransitionEvent | undefined {
  const value = parseJson(fact);
  const kind = isRecord(value) ? value["kind"] : undefined;
  if (!isRecord(value) || !isKind(kind)) return undefined;
  const decoded: Record<string, unknown> = { kind };
  for (const member of Object.keys(FORM[kind])) decoded[member] = value[member];
  return isTransition(decoded, kind) ? { ...decoded, seq, at } : undefined;
}

function isKind(kind: unknown): kind is TransitionFact["kind"] {
  return typeof kind === "string" && Object.hasOwn(FORM, kind);
}

function isTransition(value: unknown, kind: TransitionFact["kind"]): value is TransitionFact {
  return isRecord(value) && Object.entries(FORM[kind]).every(([member, fits]) => fits(value[member]));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
