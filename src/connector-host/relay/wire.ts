/**
 * What the two halves of the relay say to each other, beside MCP's own headers and bytes. Over HTTP/1.1, on TCP or on a Unix
 * socket: one POST for each request, and its answer as it arrives.
 */

/** Where the desktop half is posted to. */
export const RELAY_PATH = "/v1/relay";

/** Headers of the relay's own, in lower case, as Node gives them. */
export const RelayHeader = {
  /** Of a request: the account, the connector's key and the digest of its release, as header values. */
  account: "relay-account",
  connector: "relay-connector",
  release: "relay-release",
  /** Of an answer: a {@link RelayOutcome}. Whatever has none is no answer of a relay. */
  outcome: "relay-outcome",
  /** Of an answer that is not `answered`: a {@link RelayReason}, and one detail for people. */
  reason: "relay-reason",
  detail: "relay-detail",
} as const;

/**
 * What the desktop half knows of the request that it makes.
 *
 * - `answered`: status, media type and body are the gateway's.
 * - `not_sent`: nothing of it left.
 * - `unknown`: it left, and no answer came.
 */
export type RelayOutcome = "answered" | "not_sent" | "unknown";

export const RELAY_REASONS = [
  /** No lease has this bearer: there never was one, or it has ended. */
  "unauthorized",
  /** The request is none that a guest makes. */
  "invalid_request",
  /** The lease is for another account, connector or release. */
  "not_leased",
  /** The lease ended under the request: revoked, expired, or its login was over. */
  "lease_ended",
  /** The lease has as many requests as it may. */
  "busy",
  /** The account's session gave no credentials. */
  "account_not_ready",
  /** The desktop's own last check refused. */
  "not_admitted",
  /** No connection to the gateway. */
  "unreachable",
  /** The connection to the gateway broke. */
  "broken",
  /** A deadline of the desktop half passed. */
  "timeout",
  "closing",
  "internal_error",
] as const;

export type RelayReason = (typeof RELAY_REASONS)[number];
