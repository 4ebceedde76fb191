import { isJsonObject, isRequestId, type JsonObject, type RequestId } from "../../protocol/index.js";
import { isLogLevel, type LogLevel, refuseMethod, refuseParams, resultLine } from "../../serving/index.js";
import { answerRequest } from "./answer-request.js";
import { capabilitiesOf } from "./capabilities.js";
import { chosenConnector } from "./chosen-connector.js";
import { isLegacyHttpRevision, LEGACY_HTTP_REVISIONS, type LegacyHttpRevision } from "./classify-surface.js";
import { failedAnswer } from "./failed-answer.js";
import type { LocalServerConfig } from "./options.js";
import type { Binding } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";
import type { Answer, RequestTarget } from "./request-target.js";

/** A request of an agent that speaks a legacy revision. */
export interface LegacyRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
  /** The whole JSON-RPC message. */
  readonly message: Uint8Array;
}

/** What a session remembers of an agent, as far as methods need it. */
export interface LegacySession {
  /** The least level of log messages that the agent wants; `undefined`: none. */
  readonly logLevel: LogLevel | undefined;
  setLogLevel(level: LogLevel): void;
  /** Resolves when the owner of the resource takes part. Rejects as {@link ResourceDirectory.subscribe}. */
  subscribe(uri: string, connectorKey: string | undefined): Promise<void>;
  /** Does nothing when the URI is not watched. */
  unsubscribe(uri: string): void;
}

/** What a client offers in its `initialize`. */
export type Initialization =
  | { readonly kind: "offer"; readonly revision: LegacyHttpRevision; readonly params: JsonObject }
  | { readonly kind: "refused"; readonly answer: Answer };

/**
 * Answers a request of a legacy revision but `initialize`; `session` is the one that it came in, if any. Without one
 * nothing is remembered: a log level is taken and has no effect, and resources can't be watched.
 *
 * Errors have status 200, since these revisions read a JSON-RPC error only there. Never rejects for what an agent sent.
 */
export async function answerLegacyRequest(
  config: LocalServerConfig,
  target: RequestTarget,
  request: LegacyRequest,
  session?: LegacySession,
): Promise<Answer> {
  const { body } = await dispatch(config, target, request, session);
  return { status: 200, body };
}

function dispatch(
  config: LocalServerConfig,
  target: RequestTarget,
  request: LegacyRequest,
  session: LegacySession | undefined,
): Answer | Promise<Answer> {
  const { id, method, message } = request;
  const params = request.params ?? {};
  if (!isJsonObject(params)) return refusedAnswer(refuseParams(id, "params must be an object"));
  switch (method) {
    case "ping":
      return resultAnswer(id, {});
    case "logging/setLevel":
      return setLevel(id, params, session);
    case "resources/subscribe":
    case "resources/unsubscribe":
      if (session === undefined || config.directory.resources === undefined) break;
      return watch(config, target, { id, params, begins: method === "resources/subscribe" }, session);
    default: {
      const progressToken = progressTokenOf(params);
      const logLevel = session?.logLevel;
      const known = { id, method, params, message, era: "legacy" as const };
      const unsaid = { headers: undefined, clientCapabilities: undefined };
      const answer = answerRequest(config, target, { ...known, ...unsaid, progressToken, logLevel });
      if (answer !== undefined) return answer;
    }
  }
  return refusedAnswer(refuseMethod(id, method));
}

/**
 * Reads an `initialize`, and agrees on the revision that the client offers, or on the newest.
 * Source: 2025-11-25, Lifecycle, Version Negotiation.
 */
export function readInitialize(request: LegacyRequest): Initialization {
  const { id } = request;
  const params = request.params ?? {};
  if (!isJsonObject(params)) return refused(id, "params must be an object");
  const offered = params["protocolVersion"];
  if (typeof offered !== "string") return refused(id, "params.protocolVersion must be a string");
  const revision = isLegacyHttpRevision(offered) ? offered : LEGACY_HTTP_REVISIONS[0];
  return { kind: "offer", revision, params };
}

/** The answer to an `initialize`. `inSession`: whether a session is given with it, which is what an agent listens in. */
export function initializeAnswer(
  { directory, serverInfo }: LocalServerConfig,
  binding: Binding,
  { id, revision, inSession }: { id: RequestId; revision: LegacyHttpRevision; inSession: boolean },
): Answer {
  return resultAnswer(id, {
    protocolVersion: revision,
    capabilities: capabilitiesOf(directory, { listens: inSession, logs: inSession }),
    serverInfo,
    instructions: directory.instructions?.(binding),
  });
}

function setLevel(id: RequestId, { level }: JsonObject, session: LegacySession | undefined): Answer {
  if (!isLogLevel(level)) return refusedAnswer(refuseParams(id, "params.level is no log level"));
  session?.setLogLevel(level);
  return resultAnswer(id, {});
}

/** Source: 2025-11-25, Resources, Subscriptions. */
async function watch(
  config: LocalServerConfig,
  target: RequestTarget,
  { id, params, begins }: { id: RequestId; params: JsonObject; begins: boolean },
  session: LegacySession,
): Promise<Answer> {
  const { uri } = params;
  if (typeof uri !== "string") return refusedAnswer(refuseParams(id, "params.uri must be a string"));
  try {
    if (begins) await session.subscribe(uri, chosenConnector(params, config.connectorMetaKey));
    else session.unsubscribe(uri);
    return resultAnswer(id, {});
  } catch (error) {
    return failedAnswer(config, target, { id, era: "legacy", uri, error });
  }
}

function resultAnswer(id: RequestId, result: JsonObject): Answer {
  return { status: 200, body: resultLine(id, Buffer.from(JSON.stringify(result), "utf8")) };
}

function refused(id: RequestId, reason: string): Initialization {
  return { kind: "refused", answer: refusedAnswer(refuseParams(id, reason)) };
}

/** A token of another type than the revision allows is as good as none. */
function progressTokenOf(params: JsonObject): RequestId | undefined {
  const meta = params["_meta"];
  const token = isJsonObject(meta) ? meta["progressToken"] : undefined;
  return isRequestId(token) ? token : undefined;
}
