import {
  encodeHeaderValue,
  isJsonObject,
  type JsonObject,
  type MirroredHeader,
  RawJson,
  refuseArgument,
} from "../protocol/index.js";
import { encodeJson } from "./encode-json.js";

/** A request before it has an id: what its body and its headers say. */
export interface OutgoingRequest {
  readonly method: string;
  /** The members of `params` as JSON, without `_meta` and without the braces; may be empty. */
  readonly paramsJson: string;
  /** What `Mcp-Name` mirrors, when the method has it. */
  readonly name: string | undefined;
  /** The arguments of a tool call, as they stand in `paramsJson`. */
  readonly argumentsJson?: string | undefined;
  /** The input that the params carry, beside `paramsJson`. */
  readonly input?: RoundInput | undefined;
  /** The caller's own `_meta`. */
  readonly meta: JsonObject | undefined;
}

/** Which member of `params` the header `Mcp-Name` mirrors. Source: 2026-07-28, Streamable HTTP, Standard Request Headers. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

const VISIBLE = /^[!-~]+$/;

/** Prepares a request of any method; outermost params given as {@link RawJson} keep their text. Throws `invalid_argument` (`not_sent`) for what can't be sent. */
export function prepareRequest(method: string, params: JsonObject = {}, meta?: JsonObject): OutgoingRequest {
  checkMessage(method, params);
  const { _meta: own, inputResponses, requestState, ...members } = params;
  if (own !== undefined && !isJsonObject(own)) refuseArgument("params._meta", "must be an object");
  const nameMember = NAMED_BY.get(method);
  const name = nameMember === undefined ? undefined : members[nameMember];
  if (nameMember !== undefined && typeof name !== "string") refuseArgument(`params.${nameMember}`, "must be a string");
  return {
    method,
    paramsJson: encodeMembers(members),
    name: typeof name === "string" ? name : undefined,
    meta: own === undefined ? meta : { ...own, ...meta },
    input: readInput(inputResponses, requestState),
  };
}

function encodeMembers(params: JsonObject): string {
  if (!Object.values(params).some((value) => value instanceof RawJson))
    return encodeJson("params", params).slice(1, -1);
  const members: string[] = [];
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    const text = value instanceof RawJson ? value.text : encodeJson(`params.${name}`, value);
    members.push(`${JSON.stringify(name)}:${text}`);
  }
  return members.join(",");
}

/** A notification, encoded. */
export interface OutgoingNotice {
  readonly method: string;
  readonly body: string;
}

/**
 * Prepares a notification of any method. Its `_meta` holds what the caller says and nothing else: version, capabilities and
 * identity go with requests. Throws `invalid_argument` (`not_sent`). Source: 2026-07-28, Overview, Notifications; `_meta`.
 */
export function prepareNotice(method: string, params: JsonObject = {}, meta?: JsonObject): OutgoingNotice {
  checkMessage(method, params);
  const own = params["_meta"];
  if (own !== undefined && !isJsonObject(own)) refuseArgument("params._meta", "must be an object");
  const merged = own === undefined && meta === undefined ? undefined : { ...own, ...meta };
  const paramsJson = encodeJson("params", merged === undefined ? params : { ...params, _meta: merged });
  const rest = paramsJson === "{}" ? "" : `,"params":${paramsJson}`;
  return { method, body: `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${rest}}` };
}

function checkMessage(method: string, params: JsonObject): void {
  if (typeof method !== "string" || !VISIBLE.test(method)) refuseArgument("method", "must be visible ASCII");
  if (!isJsonObject(params) || typeof params["toJSON"] === "function") refuseArgument("params", "must be plain data");
}

/** Checks the members that a request carries in answer to a result that asked. Throws `invalid_argument` (`not_sent`). */
export function readInput(inputResponses: unknown, requestState: unknown): RoundInput | undefined {
  if (inputResponses === undefined && requestState === undefined) return undefined;
  const responsesJson = inputResponses === undefined ? undefined : encodeObject("inputResponses", inputResponses);
  if (requestState !== undefined && typeof requestState !== "string")
    refuseArgument("requestState", "must be a string");
  return { responsesJson, state: requestState };
}

/** Prepares a `tools/call`; arguments given as {@link RawJson} keep their text. Throws `invalid_argument` (`not_sent`). */
export function prepareToolCall(
  name: string,
  args: JsonObject | RawJson | undefined,
  meta?: JsonObject,
): OutgoingRequest {
  if (typeof name !== "string") refuseArgument("name", "must be a string");
  const argumentsJson = args === undefined ? undefined : encodeObject("arguments", args);
  const rest = argumentsJson === undefined ? "" : `,"arguments":${argumentsJson}`;
  return { method: "tools/call", paramsJson: `"name":${JSON.stringify(name)}${rest}`, argumentsJson, name, meta };
}

function encodeObject(argument: string, given: unknown): string {
  const isRaw = given instanceof RawJson;
  if (!isJsonObject(isRaw ? given.value : given)) refuseArgument(argument, "must be an object");
  return isRaw ? given.text : encodeJson(argument, given);
}

/** What a request says beside its params when it is made again with the input that the server asked for. */
export interface RoundInput {
  /** `inputResponses` as JSON. */
  readonly responsesJson: string | undefined;
  readonly state: string | undefined;
}

/** The body of a request. Source: 2026-07-28, Streamable HTTP, Sending Messages. */
export function encodeBody(request: OutgoingRequest, id: number, metaJson: string, input?: RoundInput): string {
  let rest = request.paramsJson === "" ? "" : `,${request.paramsJson}`;
  if (input?.responsesJson !== undefined) rest += `,"inputResponses":${input.responsesJson}`;
  if (input?.state !== undefined) rest += `,"requestState":${JSON.stringify(input.state)}`;
  return `{"jsonrpc":"2.0","id":${String(id)},"method":${JSON.stringify(request.method)},"params":{"_meta":${metaJson}${rest}}}`;
}

/** The headers of a message: those of the client, and those that mirror the body. */
export function encodeHeaders(
  client: readonly string[],
  request: Pick<OutgoingRequest, "method" | "name">,
  mirrored: readonly MirroredHeader[],
): string[] {
  const headers = [...client, "Mcp-Method", request.method];
  if (request.name !== undefined) headers.push("Mcp-Name", encodeHeaderValue(request.name));
  for (const { header, value } of mirrored) headers.push(header, encodeHeaderValue(value));
  return headers;
}
