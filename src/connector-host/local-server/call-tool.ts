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
  checkParameterHeaders,
  type HeaderFields,
  type LogLevel,
  notificationLine,
  type Refusal,
  refuseParams,
  resultLine,
} from "../../serving/index.js";
import { passOnAgentMeta } from "./agent-meta.js";
import type { Answer, Exchange } from "./exchange.js";
import { endError, failedAnswer } from "./failed-answer.js";
import { fitResult } from "./fit-result.js";
import type { LocalServerConfig } from "./options.js";
import type { ResolvedTool, UpstreamAnswer, ToolCall } from "./ports.js";
import { refusedAnswer } from "./refused-answer.js";

/** A `tools/call` of either era. */
export interface ToolCallRequest {
  readonly id: RequestId;
  readonly params: JsonObject;
  /** The whole JSON-RPC message, from which the arguments are cut out as they were written. */
  readonly message: Uint8Array;
  readonly era: "modern" | "legacy";
  /** The request's headers, to be compared with the arguments. Legacy revisions mirror nothing. */
  readonly headers: HeaderFields | undefined;
  readonly progressToken: RequestId | undefined;
  readonly logLevel: LogLevel | undefined;
}

/**
 * Answers a `tools/call`: checks what the agent sent, finds the tool, compares the headers with the contract that the tool
 * has now, calls it, and hands back the result's own bytes.
 *
 * Nothing is sent upstream before all checks passed. Until the call itself was begun, every failure is `not_sent`.
 * Source: 2026-07-28, Tools, Calling Tools; Streamable HTTP, Server Validation.
 */
export async function callTool(
  config: LocalServerConfig,
  exchange: Exchange,
  request: ToolCallRequest,
): Promise<Answer> {
  const { id } = request;
  const read = readParams(request, config.maxArgumentsBytes);
  if (read.kind === "refused") return refusedAnswer(read);
  exchange.deadline = config.clock.now() + config.callTimeoutMs;
  const { binding, signal } = exchange;
  let tool: ResolvedTool;
  try {
    tool = await config.directory.resolve(binding, read.name, signal);
    if (exchange.ended !== undefined) throw endError(exchange.ended, "not_sent");
  } catch (error) {
    return failedAnswer(config, exchange, { id, error, delivery: "not_sent" });
  }
  const refusal = request.headers && checkParameterHeaders(request.headers, tool.contract, read.args, id);
  if (refusal !== undefined) return refusedAnswer(refusal);
  let calling: Promise<UpstreamAnswer> | undefined;
  try {
    calling = config.directory.call(binding, tool, toolCall(config, exchange, request, read.argumentsText));
    const fitted = fitResult(await calling, request.era);
    if (fitted.kind === "fits") return { status: 200, body: resultLine(id, fitted.raw) };
    throw undeliverable(fitted.resultType);
  } catch (error) {
    return failedAnswer(config, exchange, { id, error, promise: calling });
  }
}

interface CallParams {
  readonly kind: "valid";
  readonly name: string;
  readonly args: JsonObject;
  readonly argumentsText: string | undefined;
}

function readParams(request: ToolCallRequest, maxArgumentsBytes: number): CallParams | Refusal {
  const { id, params, message } = request;
  const { name } = params;
  if (typeof name !== "string") return refuseParams(id, "params.name must be a string");
  if (params["inputResponses"] !== undefined || params["requestState"] !== undefined) {
    // Taking them for a first call would run a tool once more for an agent that only wanted to go on.
    return refuseParams(id, "No call waits for input here, so that there is none to continue");
  }
  const args = params["arguments"] ?? undefined;
  if (args === undefined) return { kind: "valid", name, args: {}, argumentsText: undefined };
  if (!isJsonObject(args)) return refuseParams(id, "params.arguments must be an object");
  const range = memberRange(message, ["params", "arguments"]) ?? { start: 0, end: 0 };
  if (range.end - range.start > maxArgumentsBytes) {
    return refuseParams(id, `params.arguments has more than ${String(maxArgumentsBytes)} bytes (maxArgumentsBytes)`);
  }
  const text = Buffer.from(message.buffer, message.byteOffset + range.start, range.end - range.start);
  return { kind: "valid", name, args, argumentsText: text.toString("utf8") };
}

function toolCall(
  config: LocalServerConfig,
  exchange: Exchange,
  { params, progressToken, logLevel }: ToolCallRequest,
  argumentsText: string | undefined,
): ToolCall {
  const { mayStream, signal, deadline } = exchange;
  return {
    argumentsText,
    meta: passOnAgentMeta(params["_meta"], config.productPrefix),
    logLevel,
    signal,
    deadline,
    onProgress: mayStream && progressToken !== undefined ? progressRelay(exchange, progressToken) : undefined,
    onNotification: mayStream && logLevel !== undefined ? logRelay(exchange) : undefined,
  };
}

/** Hands progress on under the agent's own token. Source: 2026-07-28, Progress. */
function progressRelay(exchange: Exchange, progressToken: RequestId): (progress: Progress) => void {
  return ({ progress, total, message }) => {
    const line = notificationLine("notifications/progress", { progressToken, progress, total, message });
    exchange.notify(line, DROPPABLE);
  };
}

/** Hands log messages on, and nothing else: what is left does not concern the agent's request. */
function logRelay(exchange: Exchange): (notification: Notification) => void {
  return ({ method, params }) => {
    if (method === "notifications/message") exchange.notify(notificationLine(method, params), DROPPABLE);
  };
}

const DROPPABLE = { droppable: true };

function undeliverable(resultType: string): RemoteConnectorError<"unsupported"> {
  return new RemoteConnectorError("unsupported", {
    message: "The connector answered with a kind of result that this server can't hand on.",
    delivery: "answered",
    details: { feature: `resultType ${resultType.slice(0, 64)}` },
  });
}
