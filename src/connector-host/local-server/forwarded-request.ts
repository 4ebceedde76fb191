import { RemoteConnectorError } from "../../errors.js";
import {
  isJsonObject,
  type JsonObject,
  memberRange,
  type Notification,
  type Progress,
  type RequestId,
} from "../../protocol/index.js";
import {
  type LogLevel,
  notificationLine,
  reachesLevel,
  type Refusal,
  refuseParams,
  resultLine,
} from "../../serving/index.js";
import { passOnAgentMeta } from "./agent-meta.js";
import type { AgentRequest } from "./agent-request.js";
import { failedAnswer } from "./failed-answer.js";
import { fitResult, type ResultKind } from "./fit-result.js";
import type { LocalServerConfig } from "./options.js";
import type { AgentInput, ForwardedRequest, ToolCall, UpstreamAnswer } from "./ports.js";
import type { Answer, RequestTarget } from "./request-target.js";

/**
 * What a call takes along to the connector. Sets the target's deadline, `callTimeoutMs` from now.
 *
 * Progress and log messages go back to the agent when it asked for them and takes a stream.
 */
export class ForwardedCall implements ToolCall {
  readonly argumentsText: string | undefined;
  readonly args: JsonObject | undefined;
  readonly meta: JsonObject;
  readonly logLevel: LogLevel | undefined;
  readonly deadline: number;
  readonly quickSignal: AbortSignal;
  readonly abort: (reason: unknown) => void;
  readonly onProgress: ForwardedRequest["onProgress"];
  readonly onNotification: ForwardedRequest["onNotification"];
  readonly input: AgentInput | undefined;
  readonly #target: RequestTarget;

  constructor(
    config: LocalServerConfig,
    target: RequestTarget,
    { params, progressToken, logLevel }: AgentRequest,
    { argumentsText, args }: Pick<ToolCall, "argumentsText" | "args">,
    input: AgentInput | undefined,
  ) {
    const { mayStream } = target;
    target.deadline = config.clock.now() + config.callTimeoutMs;
    this.argumentsText = argumentsText;
    this.args = args;
    this.meta = passOnAgentMeta(params["_meta"], config.productPrefix);
    this.logLevel = logLevel;
    this.deadline = target.deadline;
    this.quickSignal = target.quickSignal;
    this.abort = (reason) => target.abort(reason);
    this.onProgress = mayStream && progressToken !== undefined ? progressRelay(target, progressToken) : undefined;
    this.onNotification = mayStream && logLevel !== undefined ? logRelay(target, logLevel) : undefined;
    this.input = input;
    this.#target = target;
  }

  /** Made when it is asked for. */
  get signal(): AbortSignal {
    return this.#target.signal;
  }
}

/** The same for a request of another kind, to be added to. `argumentsText` is what a prompt gets. */
export function forwardedRequest(
  config: LocalServerConfig,
  target: RequestTarget,
  request: AgentRequest,
  { argumentsText, input }: { argumentsText?: string | undefined; input?: AgentInput | undefined } = {},
): ForwardedRequest & { readonly argumentsText: string | undefined } {
  const { meta, logLevel, deadline, quickSignal, abort, onProgress, onNotification } = new ForwardedCall(
    config,
    target,
    request,
    { argumentsText },
    input,
  );
  const { signal } = target;
  return { argumentsText, meta, logLevel, signal, quickSignal, abort, deadline, onProgress, onNotification, input };
}

/**
 * Begins a forwarded request and answers with what comes of it: the result's own bytes, as far as the agent's era takes
 * them, or the failure. `uri` is the resource that was asked for.
 */
export async function forward(
  config: LocalServerConfig,
  target: RequestTarget,
  request: AgentRequest,
  { kind, uri, begin }: { kind: ResultKind; uri?: string | undefined; begin: () => Promise<UpstreamAnswer> },
): Promise<Answer> {
  let running: Promise<UpstreamAnswer> | undefined;
  try {
    running = begin();
    return deliveredAnswer(request, kind, await running);
  } catch (error) {
    return failedAnswer(config, target, { id: request.id, era: request.era, error, promise: running, uri });
  }
}

/** The answer with a connector's result. Throws `unsupported` (`answered`) for a kind of result that can't be handed on. */
export function deliveredAnswer({ id, era }: AgentRequest, kind: ResultKind, answer: UpstreamAnswer): Answer {
  const fitted = fitResult(answer, era, kind);
  if (fitted.kind === "fits") return { status: 200, body: resultLine(id, fitted.raw) };
  throw new RemoteConnectorError("unsupported", {
    message: "The connector answered with a kind of result that this server can't hand on.",
    delivery: "answered",
    details: { feature: `resultType ${fitted.resultType.slice(0, 64)}` },
  });
}

/** The JSON text of a member of `params` as the agent wrote it, or why it is too long. */
export function paramText(
  { id, message }: AgentRequest,
  member: string,
  maxBytes: number,
): { readonly kind: "text"; readonly text: string } | Refusal {
  const range = memberRange(message, ["params", member]) ?? { start: 0, end: 0 };
  const length = range.end - range.start;
  if (length > maxBytes) {
    return refuseParams(id, `params.${member} has more than ${String(maxBytes)} bytes (maxArgumentsBytes)`);
  }
  return { kind: "text", text: Buffer.from(message.buffer, message.byteOffset + range.start, length).toString("utf8") };
}

/** Hands progress on under the agent's own token. Source: 2026-07-28, Progress. */
function progressRelay(target: RequestTarget, progressToken: RequestId): (progress: Progress) => void {
  return ({ progress, total, message }) => {
    const line = notificationLine("notifications/progress", { progressToken, progress, total, message });
    target.notify(line, DROPPABLE);
  };
}

/**
 * Hands on log messages of the level that was asked for and above, and nothing else: what is left does not concern the
 * agent's request. Connections that several agents share may be set to a lower level. Source: 2026-07-28, Logging.
 */
function logRelay(target: RequestTarget, least: LogLevel): (notification: Notification) => void {
  return ({ method, params }) => {
    if (method !== "notifications/message" || !isJsonObject(params) || !reachesLevel(params["level"], least)) return;
    target.notify(notificationLine(method, params), DROPPABLE);
  };
}

const DROPPABLE = { droppable: true };
