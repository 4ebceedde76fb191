import { isJsonObject, type JsonObject, memberRange, MetaKey, RawJson, type RequestId } from "../protocol/index.js";
import {
  addMissingMembers,
  changeMembers,
  checkParameterHeaders,
  type HeaderFields,
  type ModernCall,
  type Refusal,
  refuseParams,
} from "../serving/index.js";
import type { CallAnswer } from "./call-answer.js";
import { logLine, progressLine } from "./relay.js";
import type { UpstreamRequestOptions } from "./upstream.js";
import type { OpenUpstream } from "./upstream-pool.js";

/** One accepted request, and what belongs to it. */
export interface AcceptedCall {
  readonly call: ModernCall;
  readonly headers: HeaderFields;
  /** The body as it came, of which the arguments are cut. */
  readonly body: Uint8Array;
  readonly answer: CallAnswer;
  /** The caller's `_meta` without the members that concern the caller's own hop. */
  readonly meta: JsonObject;
}

/** A result's exact bytes, or a refusal. */
export type MethodOutcome = Uint8Array | Refusal;

export type UpstreamMethod = (open: OpenUpstream, accepted: AcceptedCall) => Promise<MethodOutcome>;

/** The methods that an upstream answers. */
export const UPSTREAM_METHODS: ReadonlyMap<string, UpstreamMethod> = new Map([
  ["tools/list", listTools],
  ["tools/call", callTool],
]);

/** What a legacy page lacks: it may not be kept, and by nobody else. Source: 2026-07-28, Caching. */
const LIST_DEFAULTS = { resultType: '"complete"', ttlMs: "0", cacheScope: '"private"' };

async function listTools({ upstream, contracts }: OpenUpstream, accepted: AcceptedCall): Promise<MethodOutcome> {
  const { cursor } = accepted.call.params;
  if (cursor !== undefined && cursor !== null && typeof cursor !== "string") {
    return refuseParams(accepted.call.id, "params.cursor must be a string");
  }
  const page = await upstream.listTools(cursor ?? undefined, optionsOf(accepted));
  contracts.note(cursor ?? undefined, page.tools);
  return addMissingMembers(withoutForeignType(page.raw, upstream.era), LIST_DEFAULTS);
}

async function callTool({ upstream, contracts }: OpenUpstream, accepted: AcceptedCall): Promise<MethodOutcome> {
  const { answer, body, call, headers } = accepted;
  const { name, arguments: args } = call.params;
  if (typeof name !== "string") return refuseParams(call.id, "params.name must be a string");
  if (args !== undefined && !isJsonObject(args)) return refuseParams(call.id, "params.arguments must be an object");
  const contract = await contracts.find(name);
  const refusal = contract === undefined ? undefined : checkParameterHeaders(headers, contract, args ?? {}, call.id);
  if (refusal !== undefined) return refusal;
  const { logLevel, progressToken } = call.meta;
  const raw = await upstream.callTool({
    ...optionsOf(accepted),
    name,
    arguments: args === undefined ? undefined : cutArguments(body),
    logLevel,
    onProgress: relayProgress(answer, progressToken),
    onNotification: (notification) => {
      const line = logLine(notification, logLevel);
      if (line !== undefined) answer.notify(line);
    },
  });
  return addMissingMembers(withoutForeignType(raw, upstream.era), { resultType: LIST_DEFAULTS.resultType });
}

function relayProgress(answer: CallAnswer, token: RequestId | undefined): UpstreamToolProgress {
  if (token === undefined) return undefined;
  return (progress) => answer.notify(progressLine(token, progress));
}

type UpstreamToolProgress = Parameters<OpenUpstream["upstream"]["callTool"]>[0]["onProgress"];

function optionsOf({ answer, meta }: AcceptedCall): UpstreamRequestOptions {
  return { signal: answer.signal, meta };
}

/** The arguments as the caller wrote them: a value that went through a number would have lost digits. */
function cutArguments(body: Uint8Array): RawJson | undefined {
  const range = memberRange(body, ["params", "arguments"]);
  return range === undefined
    ? undefined
    : new RawJson(Buffer.from(body.subarray(range.start, range.end)).toString("utf8"));
}

/** A legacy result is complete whatever it holds; a `resultType` of its own would mean something else to a modern reader. */
function withoutForeignType(raw: Uint8Array, era: "legacy" | "modern"): Uint8Array {
  return era === "legacy" ? changeMembers(raw, { resultType: undefined }) : raw;
}

/** Members of `_meta` that concern the caller's own hop. The clients set theirs. */
const HOP_KEYS: ReadonlySet<string> = new Set(Object.values(MetaKey));

/** What of the caller's `_meta` travels on: trace context, extensions, and whatever products add; not the version pin. */
export function forwardedMeta(members: JsonObject, versionMetaKey: string): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([key]) => !HOP_KEYS.has(key) && key !== versionMetaKey));
}
