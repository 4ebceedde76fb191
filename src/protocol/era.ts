import { type AnyRemoteConnectorError, isRemoteConnectorError } from "../errors.js";
import { RpcCode } from "./json-rpc.js";
import { isLegacyRevision, type LegacyRevision, type Revision } from "./revisions.js";

/** What a `server/discover` came to: an answer that names a modern revision of ours, or how it failed. */
export type ProbeOutcome =
  | { readonly kind: "discovered" }
  | { readonly kind: "failed"; readonly error: AnyRemoteConnectorError };

export interface ProbeContext {
  readonly over: "http" | "stdio";
  /** The revisions that may be spoken, the preferred one first. */
  readonly accepts: readonly Revision[];
}

/** What follows from a probe. */
export type EraVerdict =
  /** The server speaks a modern revision of ours. */
  | { readonly kind: "modern" }
  /** The server speaks a modern revision and refused: its error is the outcome. */
  | { readonly kind: "modern_refused" }
  /** Ask with `initialize`: the server named `revision`, or what it said is what servers of old say. */
  | { readonly kind: "initialize"; readonly revision?: LegacyRevision | undefined }
  /** The server wants to be authorized first; its era is not known. */
  | { readonly kind: "authorize" }
  /** No revision is spoken by both sides. */
  | { readonly kind: "no_revision" }
  /** The failure says nothing about the era: it is the outcome, and nothing is remembered. */
  | { readonly kind: "undecided" };

/** One line of the table by which probes are judged. */
export interface EraRule {
  /** The answer, in words. */
  readonly answer: string;
  readonly verdict: EraVerdict["kind"];
  readonly holds: (probe: ProbeFacts) => boolean;
}

/** What the rules look at. */
export interface ProbeFacts {
  readonly over: "http" | "stdio";
  readonly error: AnyRemoteConnectorError | undefined;
  /** The status of an answer that came over HTTP. */
  readonly status: number | undefined;
  /** The newest legacy revision that both sides speak, when the server named those it speaks. */
  readonly named: LegacyRevision | undefined;
}

const MODERN_CODES: ReadonlySet<number> = new Set([
  RpcCode.headerMismatch,
  RpcCode.missingRequiredClientCapability,
  RpcCode.unsupportedProtocolVersion,
]);
const GATEWAY_CODES: ReadonlySet<number> = new Set([RpcCode.authorizationRequired, RpcCode.reauthRequired]);
const UNDECIDED_STATUSES: ReadonlySet<number> = new Set([403, 407, 408, 421, 425, 429]);

/**
 * How the answer to a modern probe is judged; the first rule that holds counts.
 *
 * Source: 2026-07-28, Versioning, Backward Compatibility; Streamable HTTP, Backward Compatibility; stdio, Backward Compatibility.
 */
export const ERA_RULES: readonly EraRule[] = [
  {
    answer: "a `DiscoverResult` with a modern revision that we speak",
    verdict: "modern",
    holds: ({ error }) => error === undefined,
  },
  {
    answer: "a `DiscoverResult` or `-32022` with no modern revision of ours, but a legacy one",
    verdict: "initialize",
    holds: ({ error, named }) => error?.code === "unsupported_version" && named !== undefined,
  },
  {
    answer: "a `DiscoverResult` or `-32022` with no revision of ours",
    verdict: "no_revision",
    holds: ({ error }) => error?.code === "unsupported_version",
  },
  {
    answer: "`-32020`, `-32021` or `-32022`, at any status and media type",
    verdict: "modern_refused",
    holds: ({ error }) => error?.code === "peer_error" && MODERN_CODES.has(error.details.rpcCode),
  },
  {
    answer: "401; 403 with an `insufficient_scope` challenge; 428; a gateway's demand for authorization",
    verdict: "authorize",
    holds: ({ error, status }) =>
      status === 401 || status === 428 || (status === 403 && asksForScope(error)) || isGatewayDemand(error),
  },
  {
    answer: "any other 403, 407, 408, 421, 425, 429, or a redirect",
    verdict: "undecided",
    holds: ({ error, status }) =>
      error?.code === "redirect_refused" || (status !== undefined && UNDECIDED_STATUSES.has(status)),
  },
  {
    answer: "a JSON-RPC error that is not a modern one, with a 2xx or over stdio",
    verdict: "initialize",
    holds: ({ error, status }) => error?.code === "peer_error" && (status === undefined || isSuccess(status)),
  },
  {
    answer: "a result that is no `DiscoverResult`, or what is no JSON-RPC response at all, with a 2xx or over stdio",
    verdict: "initialize",
    holds: ({ error, status }) =>
      error?.code === "invalid_answer" ||
      error?.code === "stream_ended" ||
      (error?.code === "unexpected_answer" && status !== undefined && isSuccess(status)),
  },
  {
    answer: "501, or 500 with a JSON-RPC error that carries our id",
    verdict: "initialize",
    holds: ({ error, status }) => status === 501 || (status === 500 && echoesId(error)),
  },
  {
    answer: "any other 5xx",
    verdict: "undecided",
    holds: ({ status }) => status !== undefined && status >= 500,
  },
  {
    answer: "any other 4xx, with any body that is no modern error",
    verdict: "initialize",
    holds: ({ status }) => status !== undefined && status >= 400,
  },
  {
    answer: "silence until the probe's deadline, or the end of the process, over stdio",
    verdict: "initialize",
    holds: ({ error, over }) => over === "stdio" && (error?.code === "timeout" || error?.code === "process_exited"),
  },
  {
    answer: "a network error, a deadline over HTTP, a failure on our side",
    verdict: "undecided",
    holds: () => true,
  },
];

/** Tells what follows from a probe. Pure and total. */
export function classifyProbe(outcome: ProbeOutcome, { over, accepts }: ProbeContext): EraVerdict {
  const error = outcome.kind === "failed" ? outcome.error : undefined;
  const named = error === undefined ? undefined : namedLegacy(error, accepts);
  const facts = { over, error, status: error === undefined ? undefined : statusOf(error), named };
  const kind = ERA_RULES.find((rule) => rule.holds(facts))?.verdict ?? "undecided";
  return kind === "initialize" ? { kind, revision: named } : { kind };
}

function namedLegacy(error: AnyRemoteConnectorError, accepts: readonly Revision[]): LegacyRevision | undefined {
  if (!isRemoteConnectorError(error, "unsupported_version")) return undefined;
  const { supported } = error.details;
  return accepts.filter(isLegacyRevision).find((revision) => supported.includes(revision));
}

function statusOf(error: AnyRemoteConnectorError): number | undefined {
  if (error.code === "peer_error") return error.details.httpStatus;
  return error.code === "unexpected_answer" ? error.details.status : undefined;
}

/** Source: RFC 6750, section 3.1. */
function asksForScope(error: AnyRemoteConnectorError | undefined): boolean {
  if (error?.code !== "peer_error" && error?.code !== "unexpected_answer") return false;
  return /\berror\s*=\s*"?insufficient_scope\b/i.test(error.details.wwwAuthenticate ?? "");
}

function isGatewayDemand(error: AnyRemoteConnectorError | undefined): boolean {
  return error?.code === "peer_error" && GATEWAY_CODES.has(error.details.rpcCode);
}

function echoesId(error: AnyRemoteConnectorError | undefined): boolean {
  return error?.code === "peer_error" && error.details.withoutId !== true;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
