import { type Answer, isJsonObject } from "../protocol/index.js";
import {
  type CallTelemetry,
  type ExchangeResult,
  type ExchangeSubject,
  type ExchangeTelemetry,
  resultOfAnswer,
  resultOfError,
  TRACE_KEYS,
  type TraceContext,
} from "../transport/index.js";
import type { CallSpec } from "./connection.js";
import { encodeCall } from "./encode-line.js";

/** Begins to tell of a request, when anyone is told. It ends with the response, wherever that comes, or with what is in its place. */
export function tellOf(
  telemetry: CallTelemetry | undefined,
  { method, params }: Pick<CallSpec<unknown>, "method" | "params">,
  exchange: Pick<ExchangeSubject, "id" | "attempt" | "protocolVersion">,
): ExchangeTelemetry | undefined {
  if (telemetry === undefined) return undefined;
  const name = method.startsWith("resources/") ? params?.["uri"] : params?.["name"];
  return telemetry.begin({ method, name: typeof name === "string" ? name : undefined, ...exchange });
}

/** The request as it goes out, with the trace that it belongs to. Throws `invalid_argument` (`not_sent`), and tells of that. */
export function encodeTold(spec: CallSpec<unknown>, id: number, told: ExchangeTelemetry | undefined): string {
  try {
    return encodeCall(withTrace(spec, told?.carried), id);
  } catch (error) {
    told?.end(resultOfError(error));
    throw error;
  }
}

/** Nothing is added to what the caller's members give a part of: parts of two traces would make none. */
function withTrace(spec: CallSpec<unknown>, trace: TraceContext | undefined): CallSpec<unknown> {
  if (trace === undefined) return spec;
  const own = spec.params?.["_meta"];
  const given = { ...(isJsonObject(own) ? own : undefined), ...spec.meta };
  return TRACE_KEYS.some((key) => given[key] !== undefined) ? spec : { ...spec, meta: { ...spec.meta, ...trace } };
}

/** What a request came to whose answer could be read. A list that reads as empty was refused, and is none. */
export function resultOfRead(answer: Answer): ExchangeResult {
  return resultOfAnswer(answer.kind === "result" ? answer.result : {});
}
