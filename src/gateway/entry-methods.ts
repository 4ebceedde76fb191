import { isRemoteConnectorError } from "../errors.js";
import { isJsonObject, type JsonObject, memberRange, RawJson, RpcCode } from "../protocol/index.js";
import { refuse, refuseMethod, refuseParams } from "../serving/index.js";
import type { AcceptedCall, MethodOutcome, UpstreamMethod } from "./accepted-call.js";
import { callOptionsOf, CACHEABLE, COMPLETE, modernResult } from "./method-parts.js";
import type { OpenUpstream } from "./upstream-pool.js";

/** The methods beside those of tools that an upstream answers, each as the one request that it is. */
export const ENTRY_METHODS: ReadonlyMap<string, UpstreamMethod> = new Map<string, UpstreamMethod>([
  ["prompts/list", listEntries],
  ["resources/list", listEntries],
  ["resources/templates/list", listEntries],
  ["prompts/get", getPrompt],
  ["resources/read", readResource],
  ["completion/complete", complete],
]);

async function listEntries(open: OpenUpstream, accepted: AcceptedCall): Promise<MethodOutcome> {
  const { cursor } = accepted.call.params;
  if (cursor !== undefined && cursor !== null && typeof cursor !== "string") {
    return refuseParams(accepted.call.id, "params.cursor must be a string");
  }
  return ask(open, accepted, typeof cursor === "string" ? { cursor } : {}, CACHEABLE);
}

async function getPrompt(open: OpenUpstream, accepted: AcceptedCall): Promise<MethodOutcome> {
  const { id, params } = accepted.call;
  const { name, arguments: args } = params;
  if (typeof name !== "string") return refuseParams(id, "params.name must be a string");
  if (args !== undefined && !isJsonObject(args)) return refuseParams(id, "params.arguments must be an object");
  return ask(open, accepted, { name, ...cut(accepted.body, "arguments") }, COMPLETE);
}

async function readResource(open: OpenUpstream, accepted: AcceptedCall): Promise<MethodOutcome> {
  const { id, params } = accepted.call;
  const { uri } = params;
  if (typeof uri !== "string") return refuseParams(id, "params.uri must be a string");
  try {
    return await ask(open, accepted, { uri }, CACHEABLE);
  } catch (error) {
    // Earlier revisions had a code of their own. Source: 2026-07-28, Resources, Error Handling.
    const isMissing = isRemoteConnectorError(error, "peer_error") && error.details.rpcCode === RpcCode.resourceNotFound;
    if (!isMissing) throw error;
    const { rpcData, rpcMessage } = error.details;
    return refuse(200, id, RpcCode.invalidParams, rpcMessage, { ...(isJsonObject(rpcData) ? rpcData : {}), uri });
  }
}

async function complete(open: OpenUpstream, accepted: AcceptedCall): Promise<MethodOutcome> {
  const { body, call } = accepted;
  for (const member of ["ref", "argument"]) {
    if (!isJsonObject(call.params[member])) return refuseParams(call.id, `params.${member} must be an object`);
  }
  const params = { ...cut(body, "ref"), ...cut(body, "argument"), ...cut(body, "context") };
  return ask(open, accepted, params, COMPLETE);
}

async function ask(
  { upstream }: OpenUpstream,
  accepted: AcceptedCall,
  params: JsonObject,
  defaults: Readonly<Record<string, string>>,
): Promise<MethodOutcome> {
  const { id, method } = accepted.call;
  try {
    return modernResult(await upstream.request(method, params, callOptionsOf(accepted)), upstream.era, defaults);
  } catch (error) {
    // A legacy upstream that does not declare it is not asked.
    const isUndeclared = isRemoteConnectorError(error, "unsupported") && error.delivery === "not_sent";
    if (isUndeclared) return refuseMethod(id, method);
    throw error;
  }
}

/** A member of the params as the caller wrote it: a value that went through a number would have lost digits. */
function cut(body: Uint8Array, member: string): JsonObject {
  const range = memberRange(body, ["params", member]);
  if (range === undefined) return {};
  return { [member]: new RawJson(Buffer.from(body.subarray(range.start, range.end)).toString("utf8")) };
}
