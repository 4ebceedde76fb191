import { z } from "zod";
import { type Delivery, type ErrorDetails, isRemoteConnectorError, RemoteConnectorError } from "../../errors.js";

const text = z.string();
const key = z.object({ connectorKey: text });
const reason = z.object({ reason: text });
const path = z.object({ path: text });
const origin = z.object({ origin: text, reason: text });

/**
 * The failures that the admin plane tells, each with the facts of it that may travel: what is not here is left out. A code that is
 * missing is told as `internal_error`.
 */
const FACTS = {
  account_not_ready: z.object({ status: z.int().optional() }),
  approval_denied: key.extend({ reason: z.enum(["denied", "expired", "withdrawn"]) }),
  authorization_required: key.extend({ reauthorize: z.boolean() }),
  authorize_failed: reason,
  cancelled: reason,
  client_identity_required: z.object({
    issuer: text,
    reason: z.enum(["other_issuer", "none", "expired"]),
    configuredFor: z.array(text).optional(),
  }),
  connect_failed: origin,
  connection_broken: origin,
  input_required: z.object({ capability: text, key: text }),
  internal_error: reason,
  invalid_answer: reason,
  invalid_argument: z.object({ argument: text, reason: text }),
  invalid_header: z.object({ header: text, reason: text }),
  invalid_options: z.object({ option: text, reason: text, suggestion: text.optional() }),
  invalid_registration: z.object({ member: text, reason: text }),
  invalid_tool: z.object({ tool: text, path: text, reason: text }),
  journal_unavailable: reason,
  limit_exceeded: z.object({ option: text, limit: z.number() }),
  listen_failed: z.object({ address: text, reason: text }),
  login_ended: key,
  no_progress: z.object({ method: text, pages: z.int() }),
  not_admitted: reason,
  not_permitted: key,
  not_ready: z.object({ state: z.enum(["disabled", "starting"]), text }),
  oauth_discovery_failed: z.object({ url: text, status: z.int(), reason: text }),
  oauth_invalid: z.object({
    subject: z.enum(["resource_metadata", "server_metadata", "registration", "callback", "token", "credential"]),
    url: text,
    member: text,
    reason: text,
  }),
  oauth_refused: z.object({
    step: z.enum(["authorization", "registration", "token", "refresh", "assertion"]),
    issuer: text,
    errorCode: text.optional(),
    status: z.int().optional(),
  }),
  peer_error: z
    .object({
      rpcCode: z.number(),
      rpcMessage: text,
      // JSON has no member where an error has no data.
      rpcData: z.unknown().optional(),
      httpStatus: z.int().optional(),
    })
    .transform(({ rpcData, ...facts }) => ({ ...facts, rpcData })),
  process_exited: z
    .object({ exitCode: z.int().optional(), signal: text.optional(), stderrTail: text })
    .transform(({ exitCode, signal, stderrTail }) => ({ exitCode, signal, stderrTail })),
  redirect_refused: z.object({ status: z.int(), location: text, reason: text }),
  relay_refused: z.object({ reason: text, detail: text }),
  route_unavailable: key.extend({
    state: text,
    since: z.number().optional(),
    nextAttemptAt: z.number().optional(),
  }),
  // Without the address, which belongs to whoever began to sign in.
  sign_in_required: z.object({
    endpoint: text,
    reason: z.enum(["no_token", "token_refused", "refresh_refused", "insufficient_scope"]),
    issuer: text.optional(),
    scopes: z.array(text),
  }),
  spawn_failed: z.object({ command: text, reason: text }),
  store_full: path,
  store_in_use: path,
  store_newer_format: path.extend({ found: z.number(), known: z.number() }),
  store_unavailable: path.extend({ reason: text }),
  stream_ended: reason,
  terminal_required: z.object({ action: text }),
  timeout: z.object({ phase: z.enum(["connect", "idle", "total"]), option: text, limitMs: z.number() }),
  token_refused: z.object({
    endpoint: text,
    status: z.union([z.literal(401), z.literal(403)]),
    reason: z.enum(["refused_again", "too_many_authorizations", "scope_not_enough"]),
    scopes: z.array(text),
  }),
  unexpected_answer: z.object({ status: z.int(), mediaType: text, snippet: text, reason: text }),
  unknown_connector: key,
  unknown_tool: z.object({ tool: text }),
  unresolved_reference: key.extend({
    member: text,
    source: z.enum(["secret", "environment"]),
    name: text,
    reason: z.enum(["missing", "unreadable", "unusable"]),
  }),
  unsupported: z.object({ feature: text }),
  unsupported_version: z.object({ supported: z.array(text), ours: z.array(text) }),
} satisfies { readonly [C in keyof ErrorDetails]?: z.ZodType<ErrorDetails[C]> };

/** A failure that the admin plane tells. */
export type FaultCode = keyof typeof FACTS;

/** The same, each by its own code. */
const SCHEMAS: { readonly [C in FaultCode]: z.ZodType<ErrorDetails[C]> } = FACTS;

/** A failure as it travels. */
export interface Fault {
  readonly code: FaultCode;
  /** For people. */
  readonly message: string;
  readonly delivery: Delivery;
  readonly details: unknown;
}

const MAX_MESSAGE_CHARACTERS = 2_048;
const DELIVERIES = ["not_sent", "answered", "unknown"] as const satisfies readonly Delivery[];

/** The failure as others may know it; `undefined` for what is a fault of this process. Pure. */
export function faultOf(error: unknown): Fault | undefined {
  if (!isRemoteConnectorError(error) || !isFaultCode(error.code)) return undefined;
  const { code, delivery } = error;
  const facts = FACTS[code].safeParse(error.details);
  if (!facts.success || code === "internal_error") return undefined;
  return { code, message: error.message.slice(0, MAX_MESSAGE_CHARACTERS), delivery, details: facts.data };
}

/** What a fault of this process is told as. */
export const INTERNAL_FAULT: Fault = Object.freeze({
  code: "internal_error",
  message: "The host failed to do it; its log says why.",
  delivery: "unknown",
  details: { reason: "host_fault" },
});

const envelope = z.object({
  code: z.string(),
  message: z.string(),
  delivery: z.enum(DELIVERIES),
  details: z.unknown(),
});

/** The error of a failure that came from a host; `undefined` for what can't be read. Pure. */
export function restoreFault(value: unknown): RemoteConnectorError | undefined {
  const read = envelope.safeParse(value);
  if (!read.success || !isFaultCode(read.data.code)) return undefined;
  const { code, message, delivery, details } = read.data;
  return restored(code, { message, delivery, details });
}

function restored<C extends FaultCode>(
  code: C,
  { message, delivery, details }: Pick<Fault, "message" | "delivery" | "details">,
): RemoteConnectorError<C> | undefined {
  const { data } = SCHEMAS[code].safeParse(details);
  return data === undefined ? undefined : new RemoteConnectorError(code, { message, delivery, details: data });
}

function isFaultCode(code: string): code is FaultCode {
  return Object.hasOwn(FACTS, code);
}
