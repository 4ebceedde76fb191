import { createHmac } from "node:crypto";
import { shownUrl } from "../../protocol/index.js";
import type { CallSubject, JournalEnd, JournalEntry } from "../aggregation/index.js";
import type { BegunRow, RowEnd } from "./journal-rows.js";
import type { RedactBody } from "./redact-body.js";

/** Names that servers gave have no bound of their own. */
const LONGEST_NAME = 512;
/** What is longer is not even looked at: a part of it would be no JSON. */
const LARGEST_REDACTED_BYTES = 256 * 1024;
const CUT = "…";

/** What is kept of bodies, and the key of digests. */
export interface BodyRules {
  readonly key: Uint8Array;
  /** `undefined`: nothing is kept. */
  readonly redact: RedactBody | undefined;
  readonly maxBodyBytes: number;
}

/** What only the journal knows of a row. */
export type RowPlace = Pick<BegunRow, "attempt" | "epoch" | "firstSeq" | "seq" | "startedAt">;

/** A request as its row says it. Pure, but for the redactor. */
export function describeBegun(entry: JournalEntry, place: RowPlace, rules: BodyRules): BegunRow {
  const { subject, connectorKey, scope, generation } = entry;
  const { binding, kind } = subject;
  // A resource has no arguments but which one it is.
  const argumentsText = kind === "resource" ? subject.nativeName : subject.argumentsText;
  return {
    seq: place.seq,
    firstSeq: place.firstSeq,
    attempt: place.attempt,
    epoch: place.epoch,
    startedAt: place.startedAt,
    kind: binding === undefined ? "test" : kind,
    connectorKey: bounded(connectorKey),
    scope: bounded(scope),
    generation,
    nativeName: shownName(subject, subject.nativeName),
    exposedName: shownName(subject, subject.exposedName),
    workspaceId: binding && bounded(binding.workspaceId),
    agentSessionId: binding && bounded(binding.agentSessionId),
    durableName: optional(binding?.durable?.name),
    accountId: optional(binding?.login?.accountId ?? binding?.durable?.accountId),
    argumentBytes: argumentsText === undefined ? 0 : Buffer.byteLength(argumentsText, "utf8"),
    argumentHmac: argumentsText === undefined ? undefined : digest(rules.key, argumentsText),
    argumentBody: subject.argumentsText === undefined ? undefined : redacted(subject.argumentsText, rules),
  };
}

/** What became of a request as its row says it. Pure, but for the redactor. */
export function describeEnd(
  end: JournalEnd,
  { endedAt, durationMs }: { readonly endedAt: number; readonly durationMs: number },
  rules: BodyRules,
): RowEnd {
  const when = { endedAt, durationMs: Math.max(0, Math.round(durationMs)) };
  if (end.kind === "failure") {
    return {
      verdict: end.delivery,
      ...when,
      errorCode: end.code,
      isError: undefined,
      resultType: undefined,
      resultBytes: undefined,
      resultHmac: undefined,
      resultBody: undefined,
    };
  }
  const { raw, isError, resultType } = end;
  const isKept = rules.redact !== undefined && raw.length <= LARGEST_REDACTED_BYTES;
  return {
    verdict: "answered",
    ...when,
    errorCode: undefined,
    isError,
    resultType: optional(resultType),
    resultBytes: raw.length,
    resultHmac: digest(rules.key, raw),
    resultBody: isKept ? redacted(new TextDecoder().decode(raw), rules) : undefined,
  };
}

function shownName({ kind }: CallSubject, name: string): string {
  // Texts of tools and prompts that only look like addresses are names all the same. What is completed may be a template of addresses.
  const mayBeAddress = kind === "resource" || kind === "completion";
  if (!mayBeAddress || !URL.canParse(name)) return bounded(name);
  const url = new URL(name);
  const hasSecrets = url.search !== "" || url.username !== "" || url.password !== "" || url.hash !== "";
  return bounded(hasSecrets ? shownUrl(url) : name);
}

function optional(text: string | undefined): string | undefined {
  return text === undefined ? undefined : bounded(text);
}

function bounded(text: string): string {
  return text.length <= LONGEST_NAME ? text : text.slice(0, LONGEST_NAME) + CUT;
}

function redacted(text: string, { redact, maxBodyBytes }: BodyRules): string | undefined {
  if (redact === undefined || text.length > LARGEST_REDACTED_BYTES) return undefined;
  try {
    const kept: unknown = redact(text);
    return typeof kept === "string" ? cutToBytes(kept, maxBodyBytes) : undefined;
  } catch {
    return undefined;
  }
}

function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return text;
  // Half of a character at the end becomes none.
  const cut = new TextDecoder("utf-8").decode(bytes.subarray(0, maxBytes), { stream: true });
  return cut + CUT;
}

function digest(key: Uint8Array, content: string | Uint8Array): string {
  return createHmac("sha256", key).update(content).digest("base64url");
}
