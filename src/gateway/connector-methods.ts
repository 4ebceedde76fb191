import { isJsonObject, type JsonObject, memberRange, MetaKey, RawJson } from "../protocol/index.js";
import { checkParameterHeaders, refuseParams } from "../serving/index.js";
import type { AcceptedCall, MethodOutcome, UpstreamMethod } from "./accepted-call.js";
import { ENTRY_METHODS } from "./entry-methods.js";
import { listen } from "./listening.js";
import { CACHEABLE, callOptionsOf, COMPLETE, modernResult } from "./method-parts.js";
import type { UpstreamRequestOptions } from "./upstream.js";
import type { OpenUpstream } from "./upstream-pool.js";

/** The methods that an upstream answers. */
export const UPSTREAM_METHODS: ReadonlyMap<string, UpstreamMethod> = new Map<string, UpstreamMethod>([
  ["tools/list", listTools],
  ["tools/call", callTool],
  ...ENTRY_METHODS,
  ["subscriptions/listen", listen],
]);

async function listTools({ upstream, contracts }: OpenUpstream, accepted: AcceptedCall): Promise<MethodOutcome> {
  const { cursor } = accepted.call.params;
  if (cursor !== undefined && cursor !== null && typeof cursor !== "string") {
    return refuseParams(accepted.call.id, "params.cursor must be a string");
  }
  const page = await upstream.listTools(cursor ?? undefined, optionsOf(accepted));
  contracts.note(cursor ?? undefined, page.tools);
  return modernResult(page.raw, upstream.era, CACHEABLE);
}

async function callTool({ upstream, contracts }: OpenUpstream, accepted: AcceptedCall): Promise<MethodOutcome> {
  const { body, call, headers } = accepted;
  const { name, arguments: args } = call.params;
  if (typeof name !== "string") return refuseParams(call.id, "params.name must be a string");
  if (args !== undefined && !isJsonObject(args)) return refuseParams(call.id, "params.arguments must be an object");
  const contract = await contracts.find(name);
  const refusal = contract === undefined ? undefined : checkParameterHeaders(headers, contract, args ?? {}, call.id);
  if (refusal !== undefined) return refusal;
  const raw = await upstream.callTool({
    ...callOptionsOf(accepted),
    name,
    arguments: args === undefined ? undefined : cutArguments(body),
  });
  return modernResult(raw, upstream.era, COMPLETE);
}

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

/** Members of `_meta` that concern the caller's own hop. The clients set theirs. */
const HOP_KEYS: ReadonlySet<string> = new Set(Object.values(MetaKey));

/** What of the caller's `_meta` travels on: trace context, extensions, and whatever products add; not the version pin. */
export function forwardedMeta(members: JsonObject, versionMetaKey: string): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([key]) => !HOP_KEYS.has(key) && key !== versionMetaKey));
}
