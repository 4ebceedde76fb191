import { RemoteConnectorError } from "../../errors.js";
import { isJsonObject, type JsonObject } from "../../protocol/index.js";
import { isLoopback } from "../../transport/index.js";
import { isIdentifier } from "../identifiers.js";
import type { AuthorizationSession, NextAction, SessionStatus } from "./session.js";

/** What an answer about a session is compared with. */
export interface SessionExpectation {
  /** The release that was asked for. */
  readonly connectorVersion: string;
  /** Whether the answer must name it. One that names another is refused in any case. */
  readonly needsVersion: boolean;
  /** The session that was asked about; `undefined` when it is asked for. */
  readonly sessionId: string | undefined;
  /** A secret is at hand: a session that waits and does not say for what wants it. */
  readonly hasSecret: boolean;
  /** The control plane is http on loopback: its pages may be, too. */
  readonly allowsLoopbackHttp: boolean;
}

const STATUSES: readonly SessionStatus[] = [
  "created",
  "awaiting_user",
  "processing",
  "succeeded",
  "failed",
  "canceled",
];
const MAX_URL_CHARACTERS = 8_192;
const CODE = /^[\w.:-]{1,128}$/;

/**
 * Reads the answer about a session from its JSON value. Throws `invalid_session` (answered), which shows nothing of it: pages
 * and codes for a person are not for logs.
 */
export function parseSession(value: unknown, expected: SessionExpectation): AuthorizationSession {
  const session = isJsonObject(value) ? value["session"] : undefined;
  if (!isJsonObject(session)) throw invalid("there is no session");
  const status = parseStatus(session["status"]);
  checkVersion(session["connectorRevision"], expected);
  const isOver = status === "succeeded" || status === "failed" || status === "canceled";
  const connectionId = status === "succeeded" ? session["resultConnectionId"] : undefined;
  if (status === "succeeded" && !isIdentifier(connectionId)) throw invalid("it succeeded without a resultConnectionId");
  return {
    sessionId: parseSessionId(session["sessionId"], expected.sessionId),
    status,
    nextAction: isOver ? undefined : parseAction(session, status, expected),
    connectionId: isIdentifier(connectionId) ? connectionId : undefined,
    errorCode: status === "failed" ? readCode(session["errorCode"]) : undefined,
  };
}

/** A code of the control plane, as far as it can be shown: letters, digits and `_ . : -`, at most 128. */
export function readCode(value: unknown): string | undefined {
  return typeof value === "string" && CODE.test(value) ? value : undefined;
}

/** Bare, or after a prefix that ends in `_`. */
function parseStatus(value: unknown): SessionStatus {
  const text = typeof value === "string" ? value.toLowerCase() : "";
  const status = STATUSES.find((known) => text === known || text.endsWith(`_${known}`));
  return status ?? refuse("its status is unknown");
}

function parseSessionId(value: unknown, known: string | undefined): string {
  // What a path would swallow can't be asked about.
  const id = isIdentifier(value) && value !== "." && value !== ".." ? value : undefined;
  if (known === undefined) return id ?? refuse("its sessionId is missing or unusable");
  if (value !== undefined && value !== null && id !== known) throw invalid("it is another session");
  return known;
}

function checkVersion(value: unknown, { connectorVersion, needsVersion }: SessionExpectation): void {
  const isAbsent = value === undefined || value === null;
  if (isAbsent ? needsVersion : value !== connectorVersion) throw invalid("it is for another connectorRevision");
}

function parseAction(
  session: JsonObject,
  status: SessionStatus,
  { hasSecret, sessionId, allowsLoopbackHttp }: SessionExpectation,
): NextAction | undefined {
  const action = session["nextAction"] ?? undefined;
  const type = isJsonObject(action) ? (action["type"] ?? undefined) : undefined;
  if (type === undefined && hasSecret && status !== "processing") return { type: "submit_secret" };
  if (action === undefined) {
    // Who asks again knows already; who asks first, of a session that waits for the person, would wait for nothing.
    return sessionId !== undefined || status === "processing"
      ? undefined
      : refuse("it does not say what is to be done");
  }
  if (type === "submit_secret") return { type };
  if (type !== "redirect" || !isJsonObject(action)) return refuse("its nextAction is unknown");
  return { type, url: parsePage(action["url"], allowsLoopbackHttp) };
}

/** A page that a person may be sent to. */
function parsePage(value: unknown, allowsLoopbackHttp: boolean): string {
  if (typeof value !== "string" || value.length > MAX_URL_CHARACTERS || !URL.canParse(value)) {
    return refuse("its page has no usable URL");
  }
  const { protocol, hostname, username, password, href } = new URL(value);
  if (username !== "" || password !== "") return refuse("the URL of its page holds userinfo");
  const isLocal = allowsLoopbackHttp && protocol === "http:" && isLoopback(hostname);
  return protocol === "https:" || isLocal ? href : refuse("its page is not https");
}

function refuse(reason: string): never {
  throw invalid(reason);
}

function invalid(reason: string): RemoteConnectorError<"invalid_session"> {
  return new RemoteConnectorError("invalid_session", {
    message: `The control plane's authorization session can't be used: ${reason}.`,
    delivery: "answered",
    details: { reason },
  });
}
