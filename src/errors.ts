/**
 * The one error class of this package, its closed list of codes, and the delivery verdict.
 *
 * Tell errors apart by `code`, never by text: messages are for people and may change in any release.
 */

/**
 * What is known of a request after a failure.
 *
 * - `not_sent`: nothing of it was handed to a connection, or it was refused before anything could act. Repeating is safe.
 * - `answered`: the peer's answer is known.
 * - `unknown`: bytes went out and no answer is known. The peer may have acted.
 */
export type Delivery = "not_sent" | "answered" | "unknown";

/** What was seen of an exchange; the ground on which a {@link Delivery} stands. */
export interface DeliveryEvidence {
  /** The request was handed to a connection. That bytes reached the peer can't be known. */
  readonly handedOver: boolean;
  /** The head of the answer arrived. */
  readonly headersSeen: boolean;
  /** Messages that arrived before the end, on a stream. */
  readonly messages: number;
  /** Milliseconds from the start of the attempt to its end. */
  readonly elapsedMs: number;
  /** Attempts made, this one included. */
  readonly attempts: number;
}

/** The headers of a failed answer that callers act on. */
export interface AnswerHints {
  readonly wwwAuthenticate?: string | undefined;
  readonly retryAfter?: string | undefined;
}

/** The typed `details` of each code. A code is listed here or it does not exist. */
export interface ErrorDetails {
  /** An option is missing, unknown, or out of range. `suggestion` is the name that was probably meant. */
  invalid_options: { readonly option: string; readonly reason: string; readonly suggestion?: string | undefined };
  /** An argument of a call can't be used. */
  invalid_argument: { readonly argument: string; readonly reason: string };
  /** The exchange that was given can't do what an option asks for. `capability` is what it lacks. */
  unsupported_by_exchange: { readonly option: string; readonly capability: string };
  /** A URL is refused by the endpoint policy. It is shown without userinfo and query values. */
  invalid_url: { readonly url: string; readonly reason: string };
  /** A header can't be sent. Its value is never shown. */
  invalid_header: { readonly header: string; readonly reason: string };
  /** The `authorize` port failed: `not_sent` before a request, `answered` when it was asked of a refusal. */
  authorize_failed: { readonly reason: string };
  /** No connection could be made. */
  connect_failed: {
    readonly origin: string;
    readonly reason: string;
    /** Another attempt would fail alike: the address is refused, or the certificate not trusted. */
    readonly lasting?: true | undefined;
  };
  /** The connection ended before the answer was complete. */
  connection_broken: { readonly origin: string; readonly reason: string };
  /** A deadline passed. */
  timeout: {
    readonly phase: "connect" | "idle" | "total";
    /** The option that sets the deadline. */
    readonly option: string;
    readonly limitMs: number;
  };
  /** The operation was ended from our side: a client closed, a route fenced, an account signed out. */
  cancelled: { readonly reason: string };
  /** The owner refused the request in its last synchronous check before it was written. */
  not_admitted: { readonly reason: string };
  /** A limit was passed. `option` is the option that raises it. */
  limit_exceeded: { readonly option: string; readonly limit: number };
  /** The answer is not what MCP over HTTP allows: its status, media type or body. */
  unexpected_answer: AnswerHints & {
    readonly status: number;
    readonly mediaType: string;
    /** At most 512 characters, without control characters. */
    readonly snippet: string;
    readonly reason: string;
  };
  /** A redirect that is not followed. */
  redirect_refused: { readonly status: number; readonly location: string; readonly reason: string };
  /** A JSON-RPC message that breaks the protocol, for the call whose id it carries. */
  invalid_answer: { readonly reason: string };
  /** A stream that ended without the response. */
  stream_ended: { readonly reason: string };
  /** A JSON-RPC error of the peer. */
  peer_error: AnswerHints & {
    readonly rpcCode: number;
    readonly rpcMessage: string;
    readonly rpcData: unknown;
    /** Absent on transports without HTTP. */
    readonly httpStatus?: number | undefined;
    /** The error came without the request's id. */
    readonly withoutId?: true | undefined;
    /** What the client would have to declare, when that is why the server refused (`-32021`). */
    readonly requiredCapabilities?: { readonly [name: string]: unknown } | undefined;
  };
  /** The server has no resource of this URI. */
  resource_not_found: { readonly uri: string; readonly rpcCode: number; readonly rpcData: unknown };
  /** The server has no task of this id, or no more. */
  task_not_found: { readonly taskId: string; readonly rpcCode: number; readonly rpcData: unknown };
  /** The call's task was cancelled on the server. `statusMessage` is the server's own, for people. */
  task_cancelled: { readonly taskId: string; readonly statusMessage: string | undefined };
  /** The call's task was not over after the time for which the server keeps it. */
  task_expired: { readonly taskId: string; readonly ttlMs: number };
  /** No revision is spoken by both sides. */
  unsupported_version: { readonly supported: readonly string[]; readonly ours: readonly string[] };
  /** The peer does not offer what was asked for. */
  unsupported: { readonly feature: string };
  /** The peer asked for input that nobody here answers. `capability` is what would have to be configured. */
  input_required: { readonly capability: string; readonly key: string };
  /** Who answers the peer's request for input threw, or gave what can't be sent. `key` is the request's. */
  handler_failed: { readonly kind: string; readonly key: string; readonly reason: string };
  /** A list walk stopped making progress. */
  no_progress: { readonly method: string; readonly pages: number };
  /** No tool in reach has this name. */
  unknown_tool: { readonly tool: string };
  /** The tool, prompt or resource is switched off for agents, by its permission or by the host's globs. */
  not_permitted: { readonly connectorKey: string };
  /** Each call of the tool needs an approval, and nobody is there to give one. */
  approval_required: { readonly connectorKey: string };
  /** A call was not approved: a person refused it, nobody decided in time, or what it was to be approved for is not there any more. */
  approval_denied: { readonly connectorKey: string; readonly reason: "denied" | "expired" | "withdrawn" };
  /**
   * A request was made again with a state that it can't go on with. `unknown`: it is none of this host's; `mismatch`: it was given for
   * another request or to another agent; `used`: something went on with it already; `expired`: it is too old; `restarted`: the process
   * that knew it is gone. By its `delivery` it says whether what it would have gone on with may have acted.
   */
  continuation_refused: { readonly reason: "unknown" | "mismatch" | "used" | "expired" | "restarted" };
  /** What is about to be sent could not be written down, so that it was not sent. */
  journal_unavailable: { readonly reason: string };
  /** The action needs a person at a terminal, and none is there. */
  terminal_required: { readonly action: string };
  /** No prompt in reach has this name. */
  unknown_prompt: { readonly prompt: string };
  /** Several connectors own a resource of this URI. Choose one of them. */
  ambiguous_resource: { readonly uri: string; readonly connectorKeys: readonly string[] };
  /** The tool's definition carries an invalid `x-mcp-header`, so that it can't be called. */
  invalid_tool: { readonly tool: string; readonly path: string; readonly reason: string };
  /**
   * The tool's structured output does not fit its output schema, or can't be judged by it. `verdict` is the kind of
   * verdict, `path` and `reason` the first of its problems.
   */
  invalid_output: { readonly tool: string; readonly verdict: string; readonly path: string; readonly reason: string };
  /** A supervised server can't take calls yet: it is starting, or switched off. `text` is the application's own. */
  not_ready: { readonly state: "disabled" | "starting"; readonly text: string };
  /** A child process could not be started. */
  spawn_failed: { readonly command: string; readonly reason: string };
  /** A child process is gone. `stderrTail` is bounded and without control characters. */
  process_exited: {
    readonly exitCode: number | undefined;
    readonly signal: string | undefined;
    readonly stderrTail: string;
  };
  /** A store's folder or file can't be used. */
  store_unavailable: { readonly path: string; readonly reason: string };
  /** Another process holds the store. */
  store_in_use: { readonly path: string };
  /** The store is on a full disk. Nothing was written. */
  store_full: { readonly path: string };
  /** The store was written by a newer version of this package. */
  store_newer_format: { readonly path: string; readonly found: number; readonly known: number };
  /** A listening address is taken or may not be used. */
  listen_failed: { readonly address: string; readonly reason: string };
  /** An authorization snapshot can't be read as a whole. Single bad entries are quarantined instead. */
  invalid_snapshot: { readonly reason: string };
  /** An answer about an authorization session can't be read. */
  invalid_session: { readonly reason: string };
  /**
   * The account's control plane refused a request. `controlCode` and `controlMessage` are its own words, for people; the message
   * is left out where it could repeat what was sent. `retryable` is what it says of a repetition, if it says anything.
   */
  control_plane_error: AnswerHints & {
    readonly status: number;
    readonly controlCode: string | undefined;
    /** At most 512 characters, without control characters. */
    readonly controlMessage: string | undefined;
    readonly retryable: boolean | undefined;
  };
  /**
   * Another authorization or disconnect of the connector is under way in this process. `clientRequestId` is that flow's; absent
   * when it is no flow.
   */
  authorization_in_progress: { readonly connectorKey: string; readonly clientRequestId?: string | undefined };
  /**
   * An authorization flow ended without a connection. `reason` is one of the flow's own words, `errorCode` the provider's or the
   * control plane's.
   */
  authorization_failed: {
    readonly connectorKey: string;
    readonly reason: string;
    readonly errorCode?: string | undefined;
  };
  /** The login ended while its account was authorizing or disconnecting a connector. A flow goes on at its next login. */
  login_ended: { readonly connectorKey: string };
  /** A published description of a connector version is refused. `member` names the place. */
  invalid_release: { readonly member: string; readonly reason: string };
  /**
   * The folder of a connector's skills is refused: none of them is used. `path` is the place below the folder, which is `""` itself.
   */
  invalid_skills: { readonly connectorKey: string; readonly path: string; readonly reason: string };
  /** A registered server, or a managed program, is refused. `member` names the place. */
  invalid_registration: { readonly member: string; readonly reason: string };
  /**
   * A registered server, or a managed program, can't be started: what its definition refers to can't be had. `member` is the place
   * of the reference, `name` that of the secret or the variable. `reason` is `missing`, `unreadable` (the cause says why), or
   * `unusable` for a text that can't be handed on. No value is ever shown.
   */
  unresolved_reference: {
    readonly connectorKey: string;
    readonly member: string;
    readonly source: "secret" | "environment";
    readonly name: string;
    readonly reason: "missing" | "unreadable" | "unusable";
  };
  /** Two connectors have the same key. `places` names both, as whoever joined them called them. */
  duplicate_connector: { readonly connectorKey: string; readonly places: readonly [string, string] };
  /** The requests that a scripted server received were not those of its script. Each is described without its values. */
  script_violated: {
    /** The first 50 of them. */
    readonly unexpected: readonly string[];
    readonly unexpectedCount: number;
    readonly missing: readonly string[];
  };
  /** A fault of this package itself. The cause is what was thrown. */
  internal_error: { readonly reason: string };
  /** No connector has this key. */
  unknown_connector: { readonly connectorKey: string };
  /**
   * A person has to authorize the client, and nobody was asked: nobody can be, or not for this request. `reason` is why the tokens that
   * are here will not do. `scopes` would be asked for; `authorizationUrl` is where the person would go, where that could be prepared.
   */
  sign_in_required: {
    readonly endpoint: string;
    readonly reason: "no_token" | "token_refused" | "refresh_refused" | "insufficient_scope";
    readonly issuer?: string | undefined;
    readonly scopes: readonly string[];
    readonly authorizationUrl?: string | undefined;
  };
  /**
   * A server goes on refusing tokens although all was done that may be done. `scopes` are those it asks for.
   */
  token_refused: {
    readonly endpoint: string;
    readonly status: 401 | 403;
    readonly reason: "refused_again" | "too_many_authorizations" | "scope_not_enough";
    readonly scopes: readonly string[];
  };
  /**
   * An authorization server refused. `errorCode` is OAuth's own word, absent for any other; `status` that of the answer, absent for one
   * that a browser brought.
   */
  oauth_refused: {
    readonly step: "authorization" | "registration" | "token" | "refresh" | "assertion";
    readonly issuer: string;
    readonly errorCode?: string | undefined;
    readonly status?: number | undefined;
  };
  /** What a server or an authorization server published or answered breaks a rule, and is not used. `member` names the place. */
  oauth_invalid: {
    readonly subject: "resource_metadata" | "server_metadata" | "registration" | "callback" | "token" | "credential";
    readonly url: string;
    readonly member: string;
    readonly reason: string;
  };
  /** The metadata of a resource or of an authorization server can't be had. `status` is the answer's that stopped the search. */
  oauth_discovery_failed: { readonly url: string; readonly status: number; readonly reason: string };
  /**
   * There is no client for this authorization server. `other_issuer`: those that are configured belong to `configuredFor`; `none`: no
   * way to get one is open; `expired`: the secret's time is over.
   */
  client_identity_required: {
    readonly issuer: string;
    readonly reason: "other_issuer" | "none" | "expired";
    readonly configuredFor?: readonly string[] | undefined;
  };
  /** A connector needs its account to authorize it. */
  authorization_required: { readonly connectorKey: string; readonly reauthorize: boolean };
  /** The account's session is missing, or its server refuses it. `status` is the refusal; absent when nothing was sent. */
  account_not_ready: { readonly status?: number | undefined };
  /**
   * The desktop side of a relay made no request (`not_sent`). `reason` is one of the relay's own words, such as `unauthorized`,
   * `not_leased` or `lease_ended`.
   */
  relay_refused: { readonly reason: string; readonly detail: string };
  /** A connector has no usable route now. */
  route_unavailable: {
    readonly connectorKey: string;
    readonly state: string;
    readonly since?: number | undefined;
    readonly nextAttemptAt?: number | undefined;
  };
}

/** The closed list of error codes. */
export type ErrorCode = keyof ErrorDetails;

/** What every error may carry beside the details of its code. */
export interface EvidenceDetail {
  readonly evidence?: DeliveryEvidence | undefined;
  /** The task that the server made of the call. It may go on: it is to be resumed, and the call not made again. */
  readonly taskId?: string | undefined;
}

/** How an error is made: by name, never by position. */
export interface ErrorInit<C extends ErrorCode> {
  readonly message: string;
  /** `not_sent` when left out: the failure came before any request. */
  readonly delivery?: Delivery | undefined;
  readonly details: ErrorDetails[C] & EvidenceDetail;
  /** The caught value, when there is one. Never facts: those are in `details`. */
  readonly cause?: unknown;
}

const BRAND = Symbol.for("remote-connector.error");

/**
 * Every failure of this package, but for a caller's own abort, which rejects with the signal's reason untouched.
 *
 * `code` says what happened, `details` is typed by it, `delivery` says whether the peer may have acted. Nothing puts a
 * credential, a header that was sent, or an endpoint's query values into them. `cause` is what was caught: what a caller's own
 * function threw is there as it is, and consoles show it.
 */
export class RemoteConnectorError<C extends ErrorCode = ErrorCode> extends Error {
  readonly code: C;
  readonly delivery: Delivery;
  readonly details: ErrorDetails[C] & EvidenceDetail;

  constructor(code: C, init: ErrorInit<C>) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = code;
    this.delivery = init.delivery ?? "not_sent";
    this.details = init.details;
  }

  static {
    Object.defineProperty(this.prototype, "name", { value: "RemoteConnectorError", configurable: true });
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** The same failure as seen from an exchange: its verdict and evidence in place of those that it was made with. */
  withEvidence(delivery: Delivery, evidence: DeliveryEvidence): RemoteConnectorError<C> {
    const details = { ...this.details, evidence };
    return new RemoteConnectorError(this.code, { message: this.message, delivery, details, cause: this.cause });
  }

  /** The same failure of a call that the server had answered with a task. */
  withTask(taskId: string): RemoteConnectorError<C> {
    const details = { ...this.details, taskId };
    return new RemoteConnectorError(this.code, {
      message: this.message,
      delivery: "answered",
      details,
      cause: this.cause,
    });
  }

  /** The error as plain data, for logs and wires. The cause is left out: it may be anything. */
  toJSON(): { name: string; code: C; message: string; delivery: Delivery; details: ErrorDetails[C] & EvidenceDetail } {
    return { name: this.name, code: this.code, message: this.message, delivery: this.delivery, details: this.details };
  }
}

/** A {@link RemoteConnectorError} of any code, as a union that narrows on `code`. */
export type AnyRemoteConnectorError = { [C in ErrorCode]: RemoteConnectorError<C> }[ErrorCode];

/**
 * Whether `value` is an error of this package, made by any copy of it, and of `code` when one is given.
 */
export function isRemoteConnectorError(value: unknown): value is AnyRemoteConnectorError;
export function isRemoteConnectorError<C extends ErrorCode>(value: unknown, code: C): value is RemoteConnectorError<C>;
export function isRemoteConnectorError(value: unknown, code?: ErrorCode): boolean {
  if (typeof value !== "object" || value === null || Reflect.get(value, BRAND) !== true) return false;
  return code === undefined || Reflect.get(value, "code") === code;
}

const CAUTION: Record<Delivery, number> = { not_sent: 0, answered: 1, unknown: 2 };

/** Verdicts of rejected promises, and of the reasons that ended them. Primitives are kept in a short list of their own. */
const verdicts = new WeakMap<object, Delivery>();
const primitiveVerdicts = new Map<unknown, Delivery>();
const PRIMITIVES_KEPT = 64;

/**
 * Remembers how far the request behind `promise` got when `reason`, a value that the caller owns, ended it.
 * For the clients of this package; {@link deliveryOf} reads it.
 */
export function recordDelivery(promise: Promise<unknown>, reason: unknown, delivery: Delivery): void {
  verdicts.set(promise, delivery);
  const known = lookUp(reason);
  if (known !== undefined && CAUTION[known] >= CAUTION[delivery]) return;
  if (isObject(reason)) {
    verdicts.set(reason, delivery);
    return;
  }
  primitiveVerdicts.delete(reason);
  primitiveVerdicts.set(reason, delivery);
  if (primitiveVerdicts.size > PRIMITIVES_KEPT) {
    for (const oldest of primitiveVerdicts.keys()) {
      primitiveVerdicts.delete(oldest);
      break;
    }
  }
}

/**
 * The delivery verdict of a failed call.
 *
 * Give it the promise that the call returned: that is exact. An error of this package answers by itself. A bare abort
 * reason, which can have ended many calls, answers with the most cautious of their verdicts; `undefined` means that
 * nothing is known of the value.
 */
export function deliveryOf(subject: unknown): Delivery | undefined {
  // An error of this package can itself be the reason that ended calls; what is recorded of those says more then.
  return lookUp(subject) ?? (isRemoteConnectorError(subject) ? subject.delivery : undefined);
}

function lookUp(subject: unknown): Delivery | undefined {
  return isObject(subject) ? verdicts.get(subject) : primitiveVerdicts.get(subject);
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
