import { isJsonObject, type JsonObject } from "./json-rpc.js";
import { RawJson } from "./raw-json.js";
import { refuseArgument } from "./refuse-argument.js";

/** Which page of a list: the `nextCursor` of the page before. `""` is a cursor; `null` and absent ask for the first page. */
export interface ListParams {
  readonly cursor?: string | null | undefined;
}

export interface ResourceParams {
  readonly uri: string;
}

export interface PromptParams {
  readonly name: string;
  /** The prompt's arguments: strings, by name. As {@link RawJson} their text is sent as it is. */
  readonly arguments?: Readonly<Record<string, string>> | RawJson | undefined;
}

/** What is to be completed. Source: 2025-11-25 and 2026-07-28, Completion, Requesting Completions. */
export interface CompletionParams {
  /** `{ type: "ref/prompt", name }` or `{ type: "ref/resource", uri }`. */
  readonly ref: JsonObject;
  readonly argument: { readonly name: string; readonly value: string };
  /** Arguments that are known already. */
  readonly context?: { readonly arguments?: Readonly<Record<string, string>> | undefined } | undefined;
}

/** The cursor of a page; `undefined` for the first. Total. */
export function cursorIn(params: ListParams | null | undefined): string | undefined {
  return params?.cursor ?? undefined;
}

/** Throws `invalid_argument` (`not_sent`), as do those below. */
export function resourceParams(params: ResourceParams): JsonObject {
  const { uri } = checked(params);
  return { uri };
}

export function promptParams(params: PromptParams): JsonObject {
  const { name, arguments: args } = checked(params);
  if (args instanceof RawJson && !isJsonObject(args.value)) refuseArgument("arguments", "must be an object");
  return args === undefined ? { name } : { name, arguments: args };
}

export function completionParams(params: CompletionParams): JsonObject {
  const { ref, argument, context } = checked(params);
  if (!isJsonObject(ref)) refuseArgument("ref", "must be an object");
  if (!isJsonObject(argument)) refuseArgument("argument", "must be an object");
  return context === undefined ? { ref, argument } : { ref, argument, context };
}

function checked<P extends object>(params: P): P {
  return isJsonObject(params) ? params : refuseArgument("params", "must be an object");
}
